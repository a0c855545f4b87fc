const NARROW = 1500 // px of the window below which a page needs the side bar's room, and opens with its settings folded away
const KEY = 'llc-lab-theme'

// A window that forbids storage has no memory, and follows the system each time.
const remembered = () => { try { return localStorage.getItem(KEY) } catch { return null } }
const remember = (scheme) => { try { localStorage.setItem(KEY, scheme) } catch { /* nothing to do */ } }

// Told to the server, the next page is made for this window from the start, and does not change before the visitor's eyes.
const tell = (name, holds) => {
  try { document.cookie = `llc-lab-${name}=${Number(holds)}; max-age=31536000; samesite=lax` } catch { /* then it does change */ }
}

export function render({view, model}) {
  const page = view.model.document?.roots().find((root) => root.class_name === 'Page')
  if (!page) return document.createElement('span')
  const narrow = window.innerWidth < NARROW
  if (narrow) page.data.sidebar_open = false
  else if (model.folded) page.data.sidebar_open = true
  tell('narrow', narrow)
  const system = window.matchMedia('(prefers-color-scheme: dark)')
  let own = false
  const set = (dark) => {
    if (page.data.dark_theme === dark) return
    own = true
    page.data.dark_theme = dark
    own = false
  }
  const follow = () => { if (!remembered()) set(system.matches) }
  const chosen = () => {
    if (!own) remember(page.data.dark_theme ? 'dark' : 'light')
    tell('dark', page.data.dark_theme)
  }
  set(remembered() ? remembered() === 'dark' : system.matches)
  tell('dark', page.data.dark_theme)
  page.data.properties.dark_theme.change.connect(chosen)
  system.addEventListener('change', follow)
  model.on('remove', () => {
    page.data.properties.dark_theme.change.disconnect(chosen)
    system.removeEventListener('change', follow)
  })
  return document.createElement('span')
}
