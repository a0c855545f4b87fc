// Puts the sections into the page. What stands before this: the app's components as functions, and the other files of this folder.

// What a component asks of Panel: values, and a word when they change.
const standIn = (values) => {
  const heard = []
  const model = {...values, send_msg() {}, on(names, call) { for (const name of [names].flat()) heard.push([name, call]) }}
  model.set = (changed) => { Object.assign(model, changed); for (const [name, call] of heard) if (name in changed) call() }
  return model
}
const mountComponent = (place, component, styles, values) => {
  const model = standIn(values), shadow = place.attachShadow({mode: 'open'}), style = document.createElement('style')
  style.textContent = styles
  const root = component({model, view: null})
  shadow.append(style, root)
  return {model, root}
}
const place = (name) => document.querySelector(`[data-mount=${name}]`)
const LISTS = (network) => `widths=[${network.widths.join(', ')}], layer_ranks=[${network.ranks.join(', ')}]`

for (const b of document.querySelectorAll('nav button')) b.addEventListener('click', () => {
  const section = document.getElementById(b.dataset.key)
  section.scrollIntoView()
  section.focus({preventScroll: true})
})
mountComponent(place('valley'), valley, VALLEY_STYLE, {bend: 0, samples: 2, withheld: false, ways: [
  {key: 'guess', title: 'Guess a network', words: 'How many of its weights does it use?'},
  {key: 'network', title: 'Walk along a flat direction', words: 'Change weights, and the network stays the same.'},
  {key: 'hole', title: 'See a sampler go wrong', words: 'A published one leaves a hole where the peak should be.'},
]})
// The rest comes after the first picture has been drawn.
requestAnimationFrame(() => setTimeout(() => {
  mountGuess(place('guess'), (network) => { document.querySelector('.asked').textContent = LISTS(network) })
  const walked = RUNS.find((run) => run.now.length), {model, root} = mountComponent(place('network'), weights, WEIGHTS_STYLE, {widths: walked.widths, w0: walked.w0, now: []})
  root.querySelector('.modes button').click() // w0, which can be moved by hand
  if (!still()) {
    let k = 0
    setInterval(() => { if (!document.hidden) model.set({now: walked.now[k++ % walked.now.length]}) }, 700)
  } else model.set({now: walked.now.at(-1)})
  mountHole(place('hole'))
  mountReplay(place('run'), RUNS)
  document.documentElement.dataset.ready = 'yes'
}))
