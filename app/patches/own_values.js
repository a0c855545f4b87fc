// Panel's components written in React give every value that they have drawn back to the model. Where the model had changed
// again meanwhile, the older value won, in the browser and on the server: a button went on saying "Stop" when all was done.
// Here only a value that the component itself has set goes to the model.
;(() => {
  const component = self.Bokeh?.Models.get('panel.models.esm.ReactComponent')?.prototype, code = component?._render_code
  const swaps = [
    [/const \[value, setValue\] = React\.useState\((.*)\)/, `const [value, setState] = React.useState($1)
      const own = React.useRef(false)
      const setValue = React.useCallback((next) => { own.current = true; setState(next) }, [])`],
    [/setValue\(targetModel\.attributes\[resolvedProp\]\)/, 'setState(targetModel.attributes[resolvedProp])'],
    [/targetModel\.setv\(\{ \[resolvedProp\]: value \}\)/, 'own.current && targetModel.setv({[resolvedProp]: value})\n              own.current = false'],
  ]
  if (!code || component.givesOwnValuesOnly) return // none is there, or another view of the same notebook was here
  component.givesOwnValuesOnly = true
  component._render_code = function () {
    const whole = code.call(this)
    return swaps.every(([from]) => from.test(whole)) ? swaps.reduce((text, [from, to]) => text.replace(from, to), whole) : whole
  }
})()
