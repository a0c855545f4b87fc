// Thousands of particles on the line by two samplers, as llc_core/samplers/psgld.py and corrected_psgld.py have them, on the
// standard normal: U = x²/2, slope x, curvature 1. No drawing here.

const TINY = 1e-18 // added so that Γ is 0 and not 0/0 at a slope of 0
const EPSILON = 1e-3, STABILITY = .1
const SAMPLERS = {published: {alpha: .9, step: EPSILON, stability: STABILITY}, corrected: {alpha: .5, step: EPSILON, stability: STABILITY}}
const LOW = -4, HIGH = 4, BINS = 80

// Two standard normals at a time, by Marsaglia's polar way.
const normals = (random) => {
  let spare = 0, kept = false
  return () => {
    if (kept) { kept = false; return spare }
    let u, v, s
    do { u = 2 * random() - 1; v = 2 * random() - 1; s = u * u + v * v } while (s >= 1 || s === 0)
    const scale = Math.sqrt(-2 * Math.log(s) / s)
    spare = v * scale
    kept = true
    return u * scale
  }
}

// Particles that begin at the target's own places, so that what goes wrong is the sampler's doing.
const particles = (name, count, normal) => {
  const x = Float64Array.from({length: count}, normal), memory = new Float64Array(count)
  const {alpha, step, stability} = SAMPLERS[name], half = step / 2, rate = 1 - alpha
  const move = {
    published: () => {
      for (let i = 0; i < count; i += 1) {
        const g = x[i], square = memory[i] = alpha * memory[i] + rate * g * g, root = Math.sqrt(square)
        const metric = 1 / (stability + root)
        x[i] += half * (-metric * g - rate * g * metric * metric / (root + TINY)) + Math.sqrt(step * metric) * normal()
      }
    },
    corrected: () => {
      for (let i = 0; i < count; i += 1) {
        const g = x[i], square = memory[i] = alpha * memory[i] + rate * g * g
        const metric = 1 / Math.sqrt(stability * stability + square)
        x[i] += half * (-metric * g - g * metric * metric * metric) + Math.sqrt(step * metric) * normal()
      }
    },
  }[name]
  return {x, move}
}

// Visits below, in and above the bins.
const count = (x, counts) => {
  for (const each of x) counts[Math.min(Math.max(Math.floor((each - LOW) / (HIGH - LOW) * BINS) + 1, 0), BINS + 1)] += 1
}

// What small steps tend to: the target times G^−(1−c), with c the share of Γ that is there.
const weight = (name, x) => Math.exp(-x * x / 2) * (name === 'published' ? (SAMPLERS[name].stability + Math.abs(x)) ** SAMPLERS[name].alpha : 1)
const integral = (f, low, high, pieces) => { // Simpson's rule
  const h = (high - low) / pieces
  let sum = f(low) + f(high)
  for (let i = 1; i < pieces; i += 1) sum += (i % 2 ? 4 : 2) * f(low + i * h)
  return sum * h / 3
}
const predicted = (name) => { // a kink at 0, which is an edge of the bins
  const whole = 2 * integral((x) => weight(name, x), 0, 12, 2400), width = (HIGH - LOW) / BINS
  const masses = Array.from({length: BINS}, (_, k) => integral((x) => weight(name, x), LOW + k * width, LOW + (k + 1) * width, 20) / whole)
  const tail = integral((x) => weight(name, x), HIGH, 12, 800) / whole
  return {masses: [tail, ...masses, tail], density: (x) => weight(name, x) / whole}
}
const apart = (a, b) => a.reduce((sum, each, k) => sum + Math.abs(each - b[k]), 0) / 2 // total variation
