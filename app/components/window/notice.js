const LOST = 'The connection to the server is lost. What is shown does not move any more. Reload the page: the address holds its settings.'
const SHOWN = 15000 // ms of what can be read and forgotten

export function render({model, view}) {
  const box = document.createElement('div')
  box.className = "message"
  box.setAttribute('role', 'alert')
  const words = document.createElement('span'), reload = document.createElement('button'), close = document.createElement('button')
  reload.type = close.type = 'button'
  reload.textContent = 'Reload'
  close.textContent = 'Dismiss'
  box.append(words, reload, close)
  let timer, lost = false
  const hide = () => { if (lost) { lost = false; show() } else model.text = '' }
  const show = () => {
    words.textContent = lost ? LOST : model.text
    reload.hidden = !lost
    box.hidden = !words.textContent
    clearTimeout(timer)
    if (model.text && !lost) timer = setTimeout(hide, SHOWN)
  }
  // Whoever hears nothing any more should know it at once, and not press buttons that nobody answers.
  const whole = view.model.document
  const losing = (there) => () => { if (lost !== there) { lost = there; show() } }
  whole?.on_event?.('connection_lost', losing(true))
  whole?.on_event?.('client_reconnected', losing(false))
  reload.addEventListener('click', () => window.location.reload())
  close.addEventListener('click', hide)
  model.on('text', show)
  model.on('remove', () => clearTimeout(timer))
  show()
  return box
}
