// Figures and drawings of the page as SVG or PNG, with the colours that the page has. `findDeep` of find_deep.js stands
// before this in the same script.

const MIME = {csv: 'text/csv', json: 'application/json', py: 'text/x-python', nc: 'application/x-netcdf', svg: 'image/svg+xml', png: 'image/png'}
const SVG = 'http://www.w3.org/2000/svg'

const svgSheet = (width, height, content) =>
  `<svg xmlns="${SVG}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${content}</svg>`

const imageOf = async (svg) => {
  const made = new Image()
  made.src = `data:${MIME.svg};charset=utf-8,` + encodeURIComponent(svg)
  await made.decode()
  return made
}

// Bokeh's view of a figure, by its name.
const plotNamed = (name) => {
  const index = window.Bokeh?.index
  return index ? [...index.query((view) => view.model.name === name && view.model.type === 'Figure')][0] : null
}

// host: an element of the page, whose colours count.
class FigureFiles {
  constructor(host) { this.host = host }

  colour(name) { return getComputedStyle(this.host).getPropertyValue(name).trim() }

  get ground() { return this.colour('--panel-surface-color') || '#fff' }

  get ink() { return this.colour('--panel-on-background-color') || '#000' }

  backed(svg) { return svg.replace(/^(<svg[^>]*>)/, `$1<rect width="100%" height="100%" fill="${this.ground}"/>`) }

  // An SVG drawing of the page, by the first words of its description.
  drawing(name) {
    const shown = findDeep(document, `svg[role=img][aria-label^="${name}"]`)
    if (!shown) return null
    const copy = shown.cloneNode(true), area = shown.viewBox.baseVal
    copy.setAttribute('xmlns', SVG)
    copy.setAttribute('width', area.width)
    copy.setAttribute('height', area.height)
    copy.setAttribute('style', `color:${this.colour('--panel-on-background-color')};font-family:sans-serif`)
    return this.backed(new XMLSerializer().serializeToString(copy))
  }

  // Title and legend of a figure are beside it on the page; in a file they are written above it.
  head(name, width) {
    const shown = findDeep(document, `[data-legend~="${name}"]`)
    if (!shown) return {height: 0, text: ''}
    const parts = [], serialize = (node) => parts.push(new XMLSerializer().serializeToString(node))
    const write = (x, y, size, weight, words) => {
      const line = document.createElementNS(SVG, 'text')
      const style = {x, y, fill: this.ink, 'font-family': 'sans-serif', 'font-size': size, 'font-weight': weight}
      for (const [key, value] of Object.entries(style)) line.setAttribute(key, value)
      line.textContent = words
      serialize(line)
    }
    let x = 12, y = 8
    if (shown.dataset.title) { write(12, y + 15, 15, 700, shown.dataset.title); y += 26 }
    const pen = document.createElement('canvas').getContext('2d')
    pen.font = '13px sans-serif'
    for (const entry of shown.querySelectorAll('li')) {
      const swatch = entry.querySelector('svg').cloneNode(true), words = entry.textContent.trim()
      const wide = 38 + pen.measureText(words).width + 16
      if (x > 12 && x + wide > width) { x = 12; y += 21 }
      for (const [key, value] of Object.entries({x, y: y + 2, color: this.ink})) swatch.setAttribute(key, value)
      serialize(swatch)
      write(x + 33, y + 14, 13, 400, words)
      x += wide
    }
    return {height: y + 26, text: parts.join('')}
  }

  // A figure as a Blob; null where it is not on the screen yet. kind: 'svg' or 'png'.
  async blob(name, kind) {
    const view = plotNamed(name), svg = view ? null : this.drawing(name)
    if (!(view ? view.bbox.width : svg)) return null
    const head = view ? this.head(name, view.bbox.width) : null
    if (kind === 'svg') return new Blob([svg ?? this.plotSvg(view, head)], {type: MIME.svg})
    return view ? this.plotPng(view, head) : this.drawingPng(svg)
  }

  plotSvg(view, head) {
    const {width, height} = view.bbox
    const inside = view.export('svg').ctx.get_serialized_svg(true).replace('<svg', `<svg y="${head.height}"`)
    return this.backed(svgSheet(width, height + head.height, head.text + inside))
  }

  async plotPng(view, head) {
    const source = view.export('png').canvas, {width} = view.bbox
    const above = source.width / width * head.height
    const [canvas, pen] = this.canvas(source.width, above + source.height)
    if (above) pen.drawImage(await imageOf(svgSheet(width, head.height, head.text)), 0, 0, canvas.width, above)
    pen.drawImage(source, 0, above, canvas.width, canvas.height - above)
    return new Promise((resolve) => canvas.toBlob(resolve, MIME.png))
  }

  // Drawings have no resolution of their own: twice their size is sharp on most screens.
  async drawingPng(svg) {
    const source = await imageOf(svg)
    const [canvas, pen] = this.canvas(2 * source.width, 2 * source.height)
    pen.drawImage(source, 0, 0, canvas.width, canvas.height)
    return new Promise((resolve) => canvas.toBlob(resolve, MIME.png))
  }

  canvas(width, height) {
    const canvas = Object.assign(document.createElement('canvas'), {width, height}), pen = canvas.getContext('2d')
    pen.fillStyle = this.ground
    pen.fillRect(0, 0, canvas.width, canvas.height)
    return [canvas, pen]
  }
}
