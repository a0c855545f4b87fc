// The menu itself. `copyText` of copying.js, `MIME` and `FigureFiles` of figure_files.js stand before this in the same script.

const LARGEST = 400000 // bytes of a configuration file

export function render({model}) {
  const box = document.createElement('div')
  box.className = 'away'
  box.innerHTML = '<button type="button" class="open" aria-haspopup="true" aria-expanded="false">Export ▾</button>' +
    '<span class="message" role="status"></span><div class="menu" role="group" aria-label="Export" hidden></div>' +
    '<input type="file" accept=".json,application/json" hidden aria-label="Configuration file">'
  const find = (selector) => box.querySelector(selector)
  const open = find('.open'), menu = find('.menu'), message = find('.message'), input = find('input')
  const figureFiles = new FigureFiles(box)

  const say = (text, bad = false) => { message.textContent = text; message.className = bad ? 'message bad' : 'message' }
  const toggle = (shown) => {
    menu.hidden = !shown
    open.setAttribute('aria-expanded', String(shown))
    menu.style.left = '0'
    const over = menu.getBoundingClientRect().right - (document.documentElement.clientWidth - 12)
    if (shown && over > 0) menu.style.left = -over + 'px'
    if (shown) menu.scrollIntoView({block: 'nearest'}) // below the window nobody would see that it is open
  }
  const save = (blob, name) => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10000)
    say(`Saved ${name}.`)
  }
  const copy = async (text, what) => {
    const done = await copyText(text)
    say(done ? `Copied: ${what}.` : 'The browser did not allow copying; save the file instead.', !done)
  }
  const saveFigure = async (name, kind) => {
    const blob = await figureFiles.blob(name, kind)
    if (blob) save(blob, `${name.toLowerCase().replace(/ /g, '_')}.${kind}`)
    else say('This figure is not on the screen yet; try again when it is.', true)
  }

  const group = (title, className) => {
    const part = document.createElement('div')
    part.className = className
    part.innerHTML = '<h3></h3>'
    part.firstChild.textContent = title
    menu.appendChild(part)
    return part
  }
  // Whatever is chosen closes the menu and is then done.
  const button = (parent, text, label, act) => {
    const b = document.createElement('button')
    b.type = 'button'
    b.textContent = text
    if (label) b.setAttribute('aria-label', label)
    b.addEventListener('click', () => { toggle(false); open.focus(); act() })
    parent.appendChild(b)
  }
  const copies = group('Copy', 'list')
  button(copies, 'Copy as Python', '', () => copy(model.code, 'Python that runs as pasted'))
  button(copies, 'Copy the configuration', '', () => copy(model.configuration, 'the configuration'))
  const bring = group('Bring back', 'list')
  button(bring, 'Open a configuration file…', '', () => input.click())
  const files = group('Files', 'list')
  for (const item of model.files) {
    button(files, item.label, '', () => { say('Preparing…'); model.send_msg({want: item.key}) })
  }
  const figures = group('Figures', 'figures')
  for (const item of model.figures) {
    const row = document.createElement('div')
    row.className = 'row'
    row.appendChild(document.createElement('span')).textContent = item.label
    for (const kind of ['png', 'svg']) {
      button(row, kind.toUpperCase(), `${item.label} as ${kind.toUpperCase()}`, () => saveFigure(item.name, kind))
    }
    figures.appendChild(row)
  }

  open.addEventListener('click', () => toggle(menu.hidden))
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape' && !menu.hidden) { toggle(false); open.focus() } })
  const outside = (event) => { if (!event.composedPath().includes(box)) toggle(false) }
  document.addEventListener('pointerdown', outside)
  model.on('remove', () => document.removeEventListener('pointerdown', outside))
  input.addEventListener('change', async () => {
    const file = input.files[0]
    if (!file) return
    if (file.size > LARGEST) say('This file is too large to be a run configuration.', true)
    else {
      say('Opening…') // so that what is said next of this file is never taken for what was said of the one before
      model.send_msg({upload: await file.text()})
    }
    input.value = ''
  })
  model.on('msg:custom', (event) => {
    const {name, text, base64} = event.data ?? event
    const bytes = base64 === undefined ? text : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
    save(new Blob([bytes], {type: MIME[name.split('.').pop()]}), name)
  })
  model.on('message', () => say(model.message.text ?? '', Boolean(model.message.bad)))
  return box
}
