export function render({view}) {
  if (window.innerWidth < 600) {
    const page = view.model.document?.roots().find((root) => root.class_name === 'Page')
    if (page) page.data.sidebar_open = false
  }
  return document.createElement('span')
}
