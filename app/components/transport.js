const ICONS = {
  play: '<path d="M3 1.8v12.4c0 .8.9 1.3 1.6.9l9.9-6.2c.6-.4.6-1.4 0-1.8L4.6.9C3.9.5 3 1 3 1.8z"/>',
  pause: '<rect x="2.5" y="1.5" width="4" height="13" rx="1"/><rect x="9.5" y="1.5" width="4" height="13" rx="1"/>',
  step: '<path d="M2 2.200v11.600c0 .7.8 1.100 1.400.7l7.600-5.200V14a1 1 0 0 0 1 1h1a1 1 0 0 0 1-1V2a1 1 0 0 0-1-1h-1a1 1 0 0 0-1 1v4.700L3.400 1.500C2.800 1.100 2 1.500 2 2.200z"/>',
  reset: '<path d="M8 2.500V.6c0-.4-.5-.7-.9-.4L3.400 3c-.3.200-.3.700 0 .9l3.700 2.900c.4.300.9 0 .9-.4V4.500a4.500 4.500 0 1 1-4.400 5.400 1 1 0 1 0-2 .4A6.500 6.500 0 1 0 8 2.500z"/>'
}
const icon = (name) => `<svg viewBox="0 0 16 16" aria-hidden="true">${ICONS[name]}</svg>`

export function render({model, el}) {
  const bar = document.createElement('div')
  bar.className = 'bar'
  bar.setAttribute('role', 'toolbar')
  bar.setAttribute('aria-label', 'Run control')
  const button = (command, keys) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.setAttribute('aria-keyshortcuts', keys)
    b.addEventListener('click', () => model.send_msg({command: typeof command === 'function' ? command() : command}))
    bar.appendChild(b)
    return b
  }
  const play = button(() => model.more ? 'more' : model.playing ? 'pause' : 'play', 'Space')
  play.className = 'main'
  const step = button('step', 'S')
  const reset = button('reset', 'R')
  step.innerHTML = icon('step') + '<span>Step</span>'
  reset.innerHTML = icon('reset') + '<span>Reset</span>'
  reset.setAttribute('aria-label', 'Reset')
  reset.title = 'Start again (R)'
  const where = document.createElement('div')
  where.className = 'where'
  where.innerHTML = '<div class="words"><span class="count"></span><span class="caption"></span></div>' +
    '<div class="track" role="progressbar" aria-label="Progress" aria-valuemin="0" aria-valuemax="100">' +
    '<div class="done"></div><div class="mark" title="end of burn-in"></div></div>'
  bar.appendChild(where)
  const [count, caption, track, done, mark] = ['.count', '.caption', '.track', '.done', '.mark'].map(s => where.querySelector(s))

  const buttons = () => {
    const name = model.more ? `Run ${model.total.toLocaleString('en')} more` : model.playing ? 'Pause' : 'Play'
    const further = model.more ? ' steps' : ''
    play.innerHTML = icon(model.playing && !model.more ? 'pause' : 'play') + `<span>${name}</span>`
    play.setAttribute('aria-label', name + further)
    play.title = `${name}${further} (space bar)`
    const by = model.stride.toLocaleString('en') + ` ${model.unit}${model.stride === 1 ? '' : 's'}`
    step.title = `Advance by ${by} (S)`
    step.setAttribute('aria-label', `Step: advance by ${by}`)
  }
  const progress = () => {
    const share = 100 * model.step / Math.max(1, model.total)
    count.textContent = `${model.unit} ${model.step.toLocaleString('en')} of ${model.total.toLocaleString('en')}`
    done.style.width = share + '%'
    mark.style.left = `calc(${100 * model.burn_in / Math.max(1, model.total)}% - 1px)`
    track.setAttribute('aria-valuenow', Math.round(share))
  }
  const words = () => { caption.textContent = caption.title = model.caption }
  const which = () => { bar.dataset.run = model.run }
  buttons(); progress(); words(); which()
  model.on(['playing', 'stride', 'more', 'total'], buttons)
  model.on(['step', 'total', 'burn_in'], progress)
  model.on('caption', words)
  model.on('run', which) // last: what else is new of a run is on the bar when its number is

  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.composedPath()[0]
    if (target.closest?.('input, textarea, select, button, a, [contenteditable], [role=slider], [role=combobox], [role=option], [role=listbox]')) return
    const chosen = {' ': play, 's': step, 'r': reset}[event.key.toLowerCase()]
    if (chosen) { event.preventDefault(); chosen.click() }
  }
  document.addEventListener('keydown', keys)
  model.on('remove', () => document.removeEventListener('keydown', keys))
  return bar
}
