const OFTEN = 60 // ms between two reports while it is dragged
let serial = 0
export function render({model}) {
  const id = 'number-' + (serial++)
  const box = document.createElement('div')
  box.className = model.compact ? 'field compact' : 'field'
  box.innerHTML = `<div class="top"><label class="name" for="${id}"></label>` +
    `<span class="help" tabindex="0" role="note">?<span role="tooltip"></span></span>` +
    `<label class="auto"><input type="checkbox">automatic</label></div>` +
    `<input type="text" id="${id}" autocomplete="off" spellcheck="false" inputmode="text">` +
    `<div class="rail"><input type="range"></div><div class="limit"></div><div class="message" role="alert"></div>`
  const find = (selector) => box.querySelector(selector)
  const rail = find('.rail'), limit = find('.limit')
  limit.id = id + '-limit'
  const name = find('.name'), help = find('.help'), auto = find('.auto'), check = find('.auto input')
  const text = find('input[type=text]'), slider = find('input[type=range]'), message = find('.message')

  const written = (position) => {
    const value = model.logarithmic ? 10 ** position : position
    if (model.integer) return Math.round(model.logarithmic ? Number(value.toPrecision(2)) : value).toLocaleString('en')
    return Number(value.toPrecision(3)) >= 1e6 || Number(value.toPrecision(3)) < 1e-3 && value > 0
      ? value.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e') : String(Number(value.toPrecision(3)))
  }
  const words = () => {
    name.textContent = model.label
    name.title = model.label
    slider.setAttribute('aria-label', model.label + ' slider')
    help.style.display = model.help ? '' : 'none'
    help.setAttribute('aria-label', model.help)
    help.lastChild.textContent = model.help
    auto.style.display = model.switchable ? '' : 'none'
    check.setAttribute('aria-label', model.label + ' automatic')
  }
  const values = () => {
    slider.min = model.start
    slider.max = model.end
    slider.step = model.grain
    // An answer to what was set before must not take away what is being dragged, stepped or typed now.
    if (!moving) slider.value = model.position
    if (!typing && !moving) text.value = model.text
    check.checked = model.automatic
    box.classList.toggle('automatic', model.automatic)
    const share = (model.limit - model.start) / (model.end - model.start)
    rail.classList.toggle('bounded', model.limit !== null)
    rail.style.setProperty('--stable', Math.min(Math.max(share, 0), 1))
    limit.textContent = model.limit === null ? '' : `stable below ${written(model.limit)}`
    limit.classList.toggle('over', model.limit !== null && model.position > model.limit)
    slider.setAttribute('aria-valuetext', model.text)
  }
  const complain = () => {
    message.textContent = model.message
    text.setAttribute('aria-invalid', String(Boolean(model.message)))
  }
  let typing = false, moving = 0, due = 0
  const hold = (milliseconds) => {
    clearTimeout(moving)
    moving = setTimeout(() => { moving = 0; values() }, milliseconds)
  }
  slider.setAttribute('aria-describedby', limit.id)
  words(); values(); complain()
  model.on(['label', 'help', 'switchable'], words)
  model.on(['start', 'end', 'grain', 'position', 'text', 'automatic', 'limit'], values)
  model.on('message', complain)
  slider.addEventListener('input', () => {
    text.value = written(Number(slider.value))
    slider.setAttribute('aria-valuetext', text.value)
    if (model.live && !due) due = setTimeout(() => { due = 0; model.send_msg({position: Number(slider.value)}) }, OFTEN)
  })
  slider.addEventListener('pointerdown', () => hold(60000))
  for (const end of ['pointerup', 'pointercancel', 'change']) slider.addEventListener(end, () => hold(400))
  model.on('remove', () => { clearTimeout(moving); clearTimeout(due) })
  slider.addEventListener('change', () => { clearTimeout(due); due = 0; model.send_msg({position: Number(slider.value)}) })
  text.addEventListener('input', () => { typing = true })
  text.addEventListener('change', () => { typing = false; model.send_msg({text: text.value}) })
  text.addEventListener('keydown', (event) => { if (event.key === 'Escape') { typing = false; text.value = model.text } })
  check.addEventListener('change', () => model.send_msg({automatic: check.checked}))
  return box
}
