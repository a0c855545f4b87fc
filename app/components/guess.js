export function render({model}) {
  const form = document.createElement('form')
  const chosen = model.choices !== null
  const asked = chosen ? '<select></select>' : '<input inputmode="decimal" autocomplete="off" maxlength="40">'
  form.innerHTML = `<label><span></span> ${asked}</label>` +
    '<button type="submit" aria-keyshortcuts="A"></button><p role="status"></p>'
  const [entry, button, said] = ['input, select', 'button', 'p'].map((name) => form.querySelector(name))
  form.querySelector('label').hidden = !model.asks
  form.querySelector('span').textContent = model.label
  const offer = () => {
    const before = entry.value
    entry.replaceChildren(new Option('–', ''), ...model.choices.map(({key, label}) => new Option(label, key)))
    entry.value = model.choices.some(({key}) => key === before) ? before : ''
  }
  if (chosen) {
    offer()
    model.on('choices', offer)
  }
  const show = () => {
    button.textContent = model.revealed ? 'Hide answers' : 'Reveal'
    button.title = `${button.textContent} (A)`
    said.innerHTML = model.said
  }
  show()
  model.on(['revealed', 'said'], show)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    model.send_msg({guess: entry.value})
  })
  // Enter keeps a guess: the answer is shown by the button alone.
  entry.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || chosen || model.revealed) return
    event.preventDefault()
    model.send_msg({kept: entry.value})
  })
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key.toLowerCase() !== 'a' || !form.checkVisibility()) return
    const target = event.composedPath()[0]
    if (target.closest?.('input, textarea, select, [contenteditable], [role=slider], [role=combobox], [role=option], [role=listbox]')) return
    event.preventDefault()
    form.requestSubmit()
  }
  document.addEventListener('keydown', keys)
  model.on('remove', () => document.removeEventListener('keydown', keys))
  return form
}
