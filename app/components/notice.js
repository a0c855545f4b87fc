export function render({model}) {
  const box = document.createElement('div')
  box.className = "message"
  box.setAttribute('role', 'alert')
  const words = document.createElement('span')
  const close = document.createElement('button')
  close.type = 'button'
  close.textContent = 'Dismiss'
  box.append(words, close)
  let timer
  const hide = () => { model.text = '' }
  const show = () => {
    words.textContent = model.text
    box.hidden = !model.text
    clearTimeout(timer)
    if (model.text) timer = setTimeout(hide, 15000)
  }
  close.addEventListener('click', hide)
  model.on('text', show)
  model.on('remove', () => clearTimeout(timer))
  show()
  return box
}
