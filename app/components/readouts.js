export function render({model}) {
  const list = document.createElement('dl')
  list.className = 'numbers'
  list.style.gridTemplateColumns = `repeat(${model.columns}, minmax(${model.least}, 1fr))`
  const cells = {}
  const tips = {}
  const details = document.createElement('details')
  details.innerHTML = '<summary>Diagnostics</summary>'
  const folded = list.cloneNode()
  details.appendChild(folded)
  for (const item of model.items) {
    const box = document.createElement('div')
    box.tabIndex = 0
    box.className = (item.wide ? 'wide ' : '') + (item.main ? 'main ' : '') + (item.hero ? 'hero' : '')
    box.innerHTML = '<dt></dt><dd>–</dd><dd class="tip"></dd>'
    box.querySelector('dt').textContent = item.label
    const tip = box.querySelector('.tip')
    const keepInside = () => {
      const from = box.getBoundingClientRect().left
      const shift = Math.min(0, window.innerWidth - 8 - tip.offsetWidth - from)
      tip.style.left = `${Math.max(shift, 8 - from)}px`
    }
    box.addEventListener('mouseenter', keepInside)
    box.addEventListener('focus', keepInside)
    tip.id = 'tip-' + item.key
    tips[item.key] = [tip, item.tip]
    box.setAttribute('aria-describedby', tip.id)
    cells[item.key] = box.querySelector('dd')
    cells[item.key].dataset.key = item.key
    const place = item.detail ? folded : list
    place.appendChild(box)
  }
  const fill = () => {
    for (const [key, text] of Object.entries(model.values)) {
      if (cells[key] && cells[key].textContent !== text) cells[key].textContent = text
      cells[key]?.classList.toggle('early', model.early.includes(key))
    }
  }
  const explain = () => {
    for (const [key, [tip, words]] of Object.entries(tips)) tip.textContent = [model.reasons[key], words].filter(Boolean).join(' ')
  }
  const withhold = () => {
    for (const [key, cell] of Object.entries(cells)) cell.parentElement.hidden = model.withheld.includes(key)
  }
  fill()
  explain()
  withhold()
  model.on(['values', 'early'], fill)
  model.on('reasons', explain)
  model.on('withheld', withhold)
  const more = folded.children.length > 0
  if (!more && !model.row) return list
  const both = document.createElement('section')
  both.classList.toggle('row', model.row)
  both.append(list, ...(more ? [details] : []))
  return both
}
