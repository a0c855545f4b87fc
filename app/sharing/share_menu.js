// `copyText` of copying.js stands before this in the same script.

export function render({model}) {
  const box = document.createElement('div')
  box.className = 'share'
  box.innerHTML = '<button type="button" aria-haspopup="dialog" aria-expanded="false">Share</button>' +
    '<div class="sheet" role="dialog" aria-label="Share this page" hidden><h2>A link to what is set now</h2>' +
    '<fieldset style="border:0;padding:0;margin:0"><legend>For a class, leave out:</legend></fieldset>' +
    '<input type="text" readonly aria-label="Link"><button type="button" class="copy">Copy link</button>' +
    '<p class="teacher" hidden></p><p role="status"></p></div>'
  const open = box.querySelector('button'), sheet = box.querySelector('.sheet'), field = box.querySelector('input[type=text]')
  const copy = box.querySelector('.copy'), say = box.querySelector('p[role=status]'), teacher = box.querySelector('.teacher'), group = box.querySelector('fieldset')
  for (const [key, label] of Object.entries(model.hideable)) {
    const line = document.createElement('label'), tick = document.createElement('input')
    tick.type = 'checkbox'
    tick.value = key
    tick.addEventListener('change', () => ask())
    line.append(tick, label)
    group.appendChild(line)
  }
  const ask = () => {
    const hide = [...group.querySelectorAll('input:checked')].map((tick) => tick.value)
    say.textContent = ''
    teacher.hidden = !hide.length
    teacher.textContent = [
      hide.includes('controls') ? 'The class cannot change settings' : 'The class may change every setting',
      hide.includes('presets') ? 'has no examples' : 'may choose examples',
      hide.includes('pages') ? 'and stays on this page.' : 'and may turn to other pages.',
    ].join(', ').replace(/, and/, ' and') + (hide.includes('answers') ? ' Add &class=1 to the link, for you alone: it shows how their guesses lie.' : '')
    model.send_msg({hide})
  }
  const toggle = (shown) => {
    sheet.hidden = !shown
    open.setAttribute('aria-expanded', String(shown))
    if (shown) { ask(); copy.focus() }
  }
  model.on('link', () => {
    const {text, fault} = model.link
    say.textContent = fault ?? ''
    const address = new URL(window.location.href)
    address.searchParams.delete('page')
    address.searchParams.delete('preset')
    if (text) address.searchParams.set(model.parameter, text)
    field.value = text ? address.href : ''
    copy.disabled = !text
  })
  copy.addEventListener('click', async () => {
    const done = await copyText(field.value, field)
    window.history.replaceState(null, '', field.value)
    say.textContent = done ? 'Copied. Who opens it sees these settings, seed included.' : 'Copying was not allowed; take the link from the field.'
  })
  open.addEventListener('click', () => toggle(sheet.hidden))
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape' && !sheet.hidden) { toggle(false); open.focus() } })
  const outside = (event) => { if (!event.composedPath().includes(box)) toggle(false) }
  document.addEventListener('pointerdown', outside)
  model.on('remove', () => document.removeEventListener('pointerdown', outside))
  return box
}
