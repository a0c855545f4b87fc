const bar = ({label, share, text, kind}) => {
  const row = document.createElement('div')
  row.className = `row ${kind}`
  row.innerHTML = '<span></span><div class="rail"><div></div></div><b></b>'
  row.firstChild.textContent = label
  row.querySelector('.rail div').style.width = `${100 * Math.max(0, Math.min(1, share))}%`
  row.lastChild.textContent = text
  return row
}

export function render({model}) {
  const root = document.createElement('section')
  root.className = 'card'
  root.innerHTML = '<h2></h2><p></p><div class="two"></div><p role="status"></p>'
  const [title, words, two, said] = root.children
  let known = false
  const begin = () => {
    known = false
    title.textContent = model.question
    words.textContent = model.words
    said.textContent = ''
    two.replaceChildren(...model.choices.map(({name, picture, bars}, place) => {
      const card = document.createElement('button'), drawing = document.createElement('div')
      card.type = 'button'
      card.setAttribute('aria-pressed', 'false')
      drawing.innerHTML = picture // made by this app, see twins.py
      card.append(Object.assign(document.createElement('strong'), {textContent: name}), drawing, ...bars.map(bar))
      card.addEventListener('click', () => reveal(place))
      return card
    }))
  }
  const reveal = (place) => {
    [...two.children].forEach((card, k) => {
      card.setAttribute('aria-pressed', String(k === place))
      if (!known) card.append(...model.choices[k].hidden.map(bar))
    })
    known = true
    said.textContent = model.choices[place].said
  }
  model.on('choices', begin)
  begin()
  return root
}
