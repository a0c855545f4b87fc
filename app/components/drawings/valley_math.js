// A loss of two weights on the square |w| ≤ 1, bent by one number t, and what is exact of it. No drawing here.
//   t from 0 to 2: K = w₁² + |w₂|^q with 1/q = (2 − t)/4: a bowl at 0, quartic at 1, flat along w₂ at 2
//   t from 2 to 3: K = w₁² ((1 − s) + s w₂²) with s = t − 2: two valleys that cross at 3
// λ is that of w = 0, under a uniform prior on the square (Watanabe 2009, section 4).

const EDGES = 1600
const CRACK = 1e-12 // of a valley's steepness, below which it is flat there

const power = (t) => t >= 2 ? Infinity : 4 / (2 - t)
const across = (t, y) => t <= 2 ? 1 : 3 - t + (t - 2) * y * y // K = across · w₁² + along
const along = (t, y) => t >= 2 ? 0 : Math.abs(y) ** power(t)
const loss = (t, x, y) => across(t, y) * x * x + along(t, y)
const exact = (t) => ({lambda: t <= 2 ? 1 - t / 4 : .5, multiplicity: t === 3 ? 2 : 1})

// Numerical Recipes' rational Chebyshev fit, 1.2e-7 relative.
const erf = (z) => {
  const u = 1 / (1 + z / 2), c = [-1.26551223, 1.00002368, .37409196, .09678418, -.18628806, .27886807, -1.13520398, 1.48851587,
    -.82215223, .17087277]
  return 1 - u * Math.exp(-z * z + c.reduceRight((sum, each) => sum * u + each, 0))
}

// Midpoints y = u³ of the upper half, close together where K is least: [y, width].
const RULE = Array.from({length: EDGES}, (_, i) => { const u = (i + .5) / EDGES; return [u ** 3, 3 * u * u / EDGES] })

// Which share of the square has K < ε.
const volume = (t, epsilon) => RULE.reduce((sum, [y, width]) => {
  const room = epsilon - along(t, y)
  return sum + (room > 0 ? width * Math.min(1, Math.sqrt(room / Math.max(across(t, y), CRACK))) : 0)
}, 0)

// Under the density exp(−nK): −log of its mass, and the mean of nK, which is what λ̂ reads at this n.
const posterior = (t, n) => {
  let mass = 0, paid = 0
  for (const [y, width] of RULE) {
    const a = n * across(t, y), c = n * along(t, y), there = width * Math.exp(-c)
    const whole = a < 1e-6 ? 1 - a / 3 : Math.sqrt(Math.PI / a) / 2 * erf(Math.sqrt(a))
    mass += there * whole
    paid += there * (c * whole + (a < 1e-6 ? a / 3 : (whole - Math.exp(-a)) / 2))
  }
  return {free: -Math.log(mass), mean: paid / mass}
}

// A chain's next place: Metropolis, one weight at a time, with hops short and long. Its density is exact, there is no step to tune.
const hop = (t, n, place, random) => {
  for (const axis of [0, 1]) {
    const size = random() < .5 ? 1.2 / Math.sqrt(n) : .9 * random()
    const there = [...place]
    there[axis] += size * (2 * random() - 1)
    if (Math.abs(there[axis]) <= 1 && random() < Math.exp(n * (loss(t, ...place) - loss(t, ...there)))) place = there
  }
  return place
}
