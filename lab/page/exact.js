// Exact learning coefficients of deep linear networks, as in llc_core/theory/coefficients.py, where the sources are named.
// Layer l has width H_l; ranks[s][t] is the rank of W_t … W_{s+1}. No drawing here.

const MOST_ENTRIES = 20_000_000 // of tables, that the search for a multiplicity may compute

const grid = (size, entry) => Array.from({length: size}, (_, s) => Array.from({length: size}, (_, t) => entry(s, t)))
const divisor = (a, b) => b ? divisor(b, a % b) : Math.abs(a)
const fraction = (top, bottom) => { const by = divisor(top, bottom) || 1; return {top: top / by, bottom: bottom / by, value: top / bottom} }

// Layers of these ranks, made by zeroing rows: a path passes only through units that are kept.
const rankTable = (widths, layerRanks) => {
  const kept = layerRanks.map((k, l) => k < Math.min(widths[l], widths[l + 1]) ? k : widths[l + 1])
  return grid(widths.length, (s, t) => t < s ? 0 : Math.min(widths[s], ...kept.slice(s, t)))
}
const weightsOf = (widths) => widths.slice(1).reduce((sum, out, l) => sum + out * widths[l], 0)

// Of all parameters with a product of this rank, the least (Aoyagi 2024).
const globalCoefficient = (widths, rank) => {
  const excess = widths.map((h) => h - rank).sort((a, b) => a - b)
  let total = 0, squares = 0, l = 0
  for (; l < excess.length; l += 1) {
    const largest = excess[l], rest = excess[l + 1] ?? Infinity
    total += largest
    squares += largest * largest
    if (l && total >= l * largest && largest < rest && total < l * rest) break
  }
  const a = total - l * (Math.ceil(total / l) - 1)
  const regular = rank * (widths[0] + widths.at(-1)) - rank * rank
  const top = 2 * l * regular + a * (l - a) - (l - 1) * total * total + l * (total * total - squares)
  return {...fraction(top, 4 * l), multiplicity: a * (l - a) + 1}
}

// Of one layer while the others stand still: its loss is a square in as many directions as get in and out.
const layerCoefficients = (widths, ranks) => widths.slice(1).map((_, l) => fraction(ranks[0][l] * ranks[l + 1][widths.length - 1], 2))

// At a parameter w0 whose products have these ranks.
const localCoefficient = (widths, ranks, most = MOST_ENTRIES) => {
  const r = ranks[0][widths.length - 1], {drops, slack} = filled(widths, ranks, false)
  let codimension = r * (widths[0] + widths.at(-1)) - r * r, level = widths[0]
  for (let j = 1; j < widths.length; j += 1) {
    level -= drops[j]
    codimension += drops[j] * (widths[j] - level)
  }
  const last = filled(widths, ranks, true).drops
  const multiplicity = drops.every((d, j) => d === last[j]) ? 1 : longestChain(tiedLayers(widths, drops, last, slack), most)
  return {...fraction(codimension, 2), multiplicity}
}

// The least C by the greedy way; ties go to the leftmost layer or to the rightmost.
const filled = (widths, ranks, rightmost) => {
  const depth = widths.length - 1, level = [...widths], drops = widths.map(() => 0), unlimited = widths[0] + Math.max(...widths)
  const slack = grid(depth + 1, (s, t) => s < t ? widths[s] - ranks[s][t] : unlimited)
  let active = Array.from({length: depth}, (_, j) => j + 1), remaining = widths[0] - ranks[0][depth]
  while (remaining) {
    const lowest = Math.min(...active.map((j) => level[j])), group = active.filter((j) => level[j] === lowest)
    let seen = 0
    const inside = widths.map((_, j) => { if (group.includes(j)) seen += 1; return seen })
    let rounds = Math.floor(remaining / group.length)
    const count = (s, t) => s < t ? inside[t] - inside[s] : 0
    slack.forEach((row, s) => row.forEach((room, t) => { if (count(s, t) > 0) rounds = Math.min(rounds, Math.floor(room / count(s, t))) }))
    for (const j of active) if (level[j] > lowest) rounds = Math.min(rounds, level[j] - lowest)
    if (rounds) {
      slack.forEach((row, s) => row.forEach((_, t) => { row[t] -= rounds * count(s, t) }))
      remaining -= rounds * group.length
      for (const j of group) { level[j] += rounds; drops[j] += rounds }
      continue
    }
    for (const j of rightmost ? [...group].reverse() : group) {
      const over = slack.slice(0, j)
      if (over.some((row) => row.slice(j).some((room) => room === 0))) active = active.filter((each) => each !== j)
      else if (remaining) {
        over.forEach((row) => { for (let t = j; t <= depth; t += 1) row[t] -= 1 })
        level[j] += 1
        drops[j] += 1
        remaining -= 1
      }
    }
  }
  return {drops, slack}
}

// -- the multiplicity, as in llc_core/theory/multiplicity.py: particles on the tied layers ---------------------------------

const before = (sites) => sites.reduce((counts, here) => [...counts, counts.at(-1) + Number(here)], [0])

const tiedLayers = (widths, drops, last, slack) => {
  const depth = widths.length - 1, level = widths.map((h, j) => h + drops[j]), part = widths.map((_, j) => j)
  const root = (j) => { while (part[j] !== j) j = part[j]; return j }
  const givers = new Set(), takers = new Set()
  for (let taker = 1; taker <= depth; taker += 1) {
    let low = 1, high = depth
    for (let s = 0; s < taker; s += 1) if (slack[s].slice(taker).includes(0)) low = s + 1
    for (let t = depth; t >= taker; t -= 1) if (slack.slice(0, taker).some((row) => row[t] === 0)) high = t
    for (let giver = low; giver <= high; giver += 1) if (drops[giver] && level[giver] === level[taker] + 1) {
      givers.add(giver)
      takers.add(taker)
      part[root(giver)] = root(taker)
    }
  }
  const sites = [...new Set([...givers, ...takers])].sort((a, b) => a - b), n = sites.length
  const first = sites.map((j) => givers.has(j)), final = sites.map((j) => Number(givers.has(j)) + last[j] - drops[j] === 1)
  const starts = [0, ...sites, depth + 1], b = before(first)
  const room = grid(n + 1, (u, v) => {
    const spare = Math.min(...slack.slice(starts[u], starts[u + 1]).map((row) => Math.min(...row.slice(starts[v], starts[v + 1]))))
    return Math.min(spare, n) + b[v] - b[u]
  })
  return {first, last: final, part: sites.map(root), room}
}

const longestChain = (ties, most) => {
  const n = ties.first.length, place = ties.part.map((p, x) => ties.part.slice(0, x).filter((each) => each === p).length)
  const height = (sites) => sites.reduce((sum, here, x) => sum + (here ? place[x] : 0), 0)
  const bound = height(ties.last) - height(ties.first) + 1, particles = before(ties.first)[n]
  if (ties.room.every((row, u) => row.every((room, v) => room >= Math.min(v - u, particles)))) return bound
  const search = chainSearch(ties, most), found = search.oneByOne()
  return found === bound ? bound : search.exhaustive(height, found)
}

const chainSearch = (ties, most) => {
  const n = ties.first.length, size = n + 1, never = 4 * size, allLast = before(ties.last)
  let budget = most
  const room = grid(size, (u, v) => u >= v ? 0 : ties.room[u][v])
  const enough = grid(size, (u, v) => v < u ? -never : -(room[u][v] + allLast[u]))
  for (let u = 1; u < size; u += 1) for (let v = 0; v < size; v += 1) enough[u][v] = Math.max(enough[u][v], enough[u - 1][v])
  enough.forEach((row, u) => row.forEach((_, v) => { if (v < u) row[v] = never }))
  const start = (b) => grid(size, (u, v) => Math.min(v < u ? never : -b[v], enough[u][v]))
  const extend = (table, b, after) => {
    budget -= size * size
    const moved = grid(size, (u, v) => table[u][v] + b[u] - after[u])
    for (let u = size - 2; u >= 0; u -= 1) for (let v = 0; v < size; v += 1) moved[u][v] = Math.min(moved[u][v], moved[u + 1][v])
    const fits = moved.every((row, u) => row.every((each, v) => v < u || each + after[u] + room[u][v] >= 0))
    return fits && moved.map((row, u) => row.map((each, v) => Math.min(each, enough[u][v])))
  }

  // The chain that moves one particle by one place, the rightmost that can go, till stuck.
  const oneByOne = () => {
    const following = ties.part.map((p, x) => ties.part.indexOf(p, x + 1))
    let sites = [...ties.first], length = 1, table = start(before(sites))
    while (budget > 0) {
      const b = before(sites), movers = sites.map((_, x) => x).filter((x) => sites[x] && following[x] >= 0 && !sites[following[x]])
      const options = movers.reverse().map((x) => sites.map((here, y) => y === x ? false : y === following[x] ? true : here))
      const found = options.map((option) => extend(table, b, before(option))), chosen = found.findIndex(Boolean)
      if (chosen < 0) break
      sites = options[chosen]
      table = found[chosen]
      length += 1
    }
    return length
  }

  // The longest over all minimisers; null when the budget runs out.
  const exhaustive = (height, best) => {
    const listed = minimisers()
    if (!listed) return null
    listed.sort((a, b) => height(a) - height(b))
    const heights = listed.map(height), b = listed.map(before), waiting = b.map((each) => [{length: 1, table: start(each)}])
    for (let i = 0; i < b.length; i += 1) {
      const chains = undominated(waiting[i])
      waiting[i] = []
      for (const {length, table} of chains) {
        best = Math.max(best, length)
        const useful = []
        for (let k = i + 1; k < b.length; k += 1)
          if (length + 1 + heights.at(-1) - heights[k] > best && b[k].every((each, u) => each <= b[i][u])) useful.push(k)
        if (budget < useful.length * size * size) return null
        for (const k of useful) {
          const next = extend(table, b[i], b[k])
          if (next) waiting[k].push({length: length + 1, table: next})
        }
      }
    }
    return best
  }
  const undominated = (chains) => {
    const kept = []
    for (const chain of [...chains].sort((a, b) => b.length - a.length)) {
      budget -= kept.length * size * size
      const above = (other) => other.table.every((row, u) => row.every((each, v) => each >= chain.table[u][v]))
      if (budget < 0 || !kept.some(above)) kept.push(chain)
    }
    return kept
  }
  const minimisers = () => {
    const todo = [ties.first], seen = new Set([todo[0].join()])
    for (const sites of todo) {
      budget -= 20 * size * size
      if (budget < 0) return null
      const b = before(sites), low = Array(n).fill(0)
      for (let u = 0; u < size; u += 1) {
        let end = n
        while (end > u && room[u][end] - b[end] + b[u] !== 0) end -= 1
        for (let v = u + 1; v <= end; v += 1) low[v - 1] = u
      }
      for (let y = 0; y < n; y += 1) if (!sites[y]) for (let x = low[y]; x < y; x += 1) if (sites[x] && ties.part[x] === ties.part[y]) {
        const moved = sites.map((here, z) => z === x ? false : z === y ? true : here), key = moved.join()
        if (!seen.has(key)) { seen.add(key); todo.push(moved) }
      }
    }
    return todo
  }
  return {oneByOne, exhaustive}
}
