// Two solutions of one weight w in [-2, 2], and which of them a posterior of n samples prefers. No drawing here.
//   A, at -1: L = (w + 1)^2, perfect and sharp, λ = 1/2
//   B, at +1: L = c + (1 - c) (w - 1)^6, flat and not quite perfect, λ = 1/6
// Both reach a loss of 1 halfway between them. The prior is uniform.

const LAMBDA = {A: 1 / 2, B: 1 / 6}
const PIECES = 4000
// Midpoints u = v³ of a half basin, close together at its floor: [u, width].
const STEPS = Array.from({length: PIECES}, (_, i) => { const v = (i + .5) / PIECES; return [v ** 3, 3 * v * v / PIECES] })

const height = (c, w) => w < 0 ? (w + 1) ** 2 : c + (1 - c) * (w - 1) ** 6
// -log of each basin's posterior mass, their best losses included.
const freeEnergies = (c, n) => {
  const side = (power, scale) => STEPS.reduce((sum, [u, width]) => sum + width * Math.exp(-n * scale * u ** power), 0) / 2
  return {A: -Math.log(side(2, 1)), B: n * c - Math.log(side(6, 1 - c))}
}
const shareOfB = (c, n) => { const {A, B} = freeEnergies(c, n); return 1 / (1 + Math.exp(B - A)) }
// The number of samples from which A is preferred for good; 10 where it always is.
const change = (c) => {
  let low = 1, high = 7 // log10 of n
  for (let i = 0; i < 40; i += 1) { const middle = (low + high) / 2; if (shareOfB(c, 10 ** middle) > .5) low = middle; else high = middle }
  return 10 ** low
}
