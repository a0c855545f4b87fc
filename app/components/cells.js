export function render({model}) {
  const root = document.createElement('div')
  root.innerHTML = '<h2></h2><p></p><div class="wide"><table><thead><tr><td></td></tr></thead><tbody></tbody></table></div><p role="status"></p>'
  const find = (selector) => root.querySelector(selector)
  const said = find('[role=status]')
  let buttons = []
  const heading = (text, scope) => Object.assign(document.createElement('th'), {textContent: text, scope})
  const build = () => {
    find('h2').textContent = model.title
    find('p').textContent = model.words
    find('thead tr').replaceChildren(document.createElement('td'), ...model.columns.map((text) => heading(text, 'col')))
    buttons = []
    find('tbody').replaceChildren(...model.cells.map((row, i) => {
      const line = document.createElement('tr')
      line.append(heading(model.rows[i], 'row'), ...row.map((entries) => {
        const place = document.createElement('td')
        place.append(...entries.map(({label, name, raised}) => {
          const button = document.createElement('button'), at = buttons.length
          button.type = 'button'
          button.textContent = label
          button.className = raised ? 'raised' : ''
          button.setAttribute('aria-label', name)
          button.addEventListener('click', () => model.send_msg({chosen: at}))
          buttons.push(button)
          return button
        }))
        return place
      }))
      return line
    }))
    mark()
  }
  const mark = () => buttons.forEach((button, at) => button.setAttribute('aria-pressed', String(at === model.chosen)))
  const speak = () => { said.textContent = model.said }
  build(); speak()
  model.on(['title', 'words', 'rows', 'columns', 'cells'], build)
  model.on('chosen', mark)
  model.on('said', speak)
  return root
}
