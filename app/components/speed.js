export function render({model}) {
  const speed = document.createElement('label')
  speed.className = 'speed'
  speed.innerHTML = '<span>Speed: <b></b></span><input type="range" min="0" step="1" aria-label="Speed">'
  const slider = speed.querySelector('input'), said = speed.querySelector('b')
  slider.max = slider.value = String(model.paces.length - 1)
  const say = () => {
    const pace = model.paces[slider.value]
    said.textContent = pace ? `${pace} ${model.unit}${pace === 1 ? '' : 's'} a second` : 'full'
    slider.setAttribute('aria-valuetext', said.textContent)
  }
  slider.addEventListener('input', say)
  slider.addEventListener('change', () => model.send_msg({pace: model.paces[slider.value]}))
  say()
  model.on('unit', say)
  return speed
}
