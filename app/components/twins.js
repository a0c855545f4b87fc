const percent = (share) => `${Math.round(100 * share)}%`
const bar = (label, share, text, kind) => {
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
  title.textContent = model.question
  words.textContent = model.words
  const cards = model.networks.map((network, place) => {
    const card = document.createElement('button')
    card.type = 'button'
    card.setAttribute('aria-pressed', 'false')
    card.append(Object.assign(document.createElement('strong'), {textContent: network.name}),
      bar(model.labels.llc, network.llc / model.most, `${Math.round(network.llc)} ± ${Math.max(1, Math.round(network.llc_se))}`, 'measured'),
      bar(model.labels.shown, network.shown, percent(network.shown), ''))
    card.addEventListener('click', () => reveal(place))
    return card
  })
  let told = false
  const reveal = (place) => {
    cards.forEach((card, k) => {
      card.setAttribute('aria-pressed', String(k === place))
      if (!told) card.append(bar(model.labels.hidden, model.networks[k].hidden, percent(model.networks[k].hidden), 'truth'))
    })
    told = true
    said.textContent = model.said[place]
  }
  two.replaceChildren(...cards)
  return root
}
