// Whether a text could be put into the clipboard. field: the element that holds it, where there is one on the page.
const copyText = async (text, field = null) => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch (error) {
    // Pages that are not on a secure address have no clipboard: copy what is selected instead.
    const area = field ?? document.body.appendChild(Object.assign(document.createElement('textarea'), {value: text}))
    area.select()
    const done = document.execCommand('copy')
    if (!field) area.remove()
    return done
  }
}
