export function render({model}) {
  model.send_msg({drawn: true})
  return document.createElement('span')
}
