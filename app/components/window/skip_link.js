// `findDeep` of find_deep.js stands before this in the same script.

export function render({model}) {
  const link = document.createElement('a')
  link.href = '#content'
  link.textContent = 'Skip to the content'
  link.className = 'skip-link'
  const sheet = document.createElement('style')
  sheet.textContent = '.skip-link { position: fixed; z-index: 3000; left: 8px; top: -80px; padding: 10px 16px; border-radius: 0 0 8px 8px;' +
    ' background: #fff; color: #0B4A73; font: 700 1rem sans-serif } .skip-link:focus { top: 0 }'
  link.addEventListener('click', (event) => {
    event.preventDefault()
    const main = findDeep(document, '.main-content')
    if (!main) return
    main.tabIndex = -1
    main.style.outline = 'none'
    main.focus()
  })
  document.head.append(sheet)
  document.body.prepend(link)
  model.on('remove', () => { link.remove(); sheet.remove() })
  return document.createElement('span')
}
