// Drive an engine with Sabaki's own controller, in the order in which Sabaki sends things, and
// print what came back as one JSON object. Arguments: the engine's command line.
const {ControllerStateTracker, Controller} = require('@sabaki/gtp')

async function main() {
  let [path, ...args] = process.argv.slice(2)
  let controller = new Controller(path, args)
  let tracker = new ControllerStateTracker(controller)
  let out = {}
  controller.start()

  // Sabaki asks these without waiting for answers.
  let started = Date.now()
  let greetings = ['name', 'version', 'protocol_version', 'list_commands']
  let answers = await Promise.all(greetings.map(name => controller.sendCommand({name})))
  out.greetings = answers.map(answer => answer.content)
  out.seconds = (Date.now() - started) / 1000

  let history = [
    {name: 'set_free_handicap', args: ['C3', 'G7']},
    {name: 'play', args: ['W', 'E5']},
    {name: 'play', args: ['W', 'E6']},
    {name: 'play', args: ['B', 'C4']}
  ]
  await tracker.sync({komi: 5.5, boardsize: [9, 9], history})
  out.komi = (await controller.sendCommand({name: 'get_komi'})).content
  out.genmove = (await tracker.queueCommand({name: 'genmove', args: ['W']})).content

  // Back to a shorter game: by undo.
  await tracker.sync({komi: 5.5, boardsize: [9, 9], history: history.slice(0, 3)})
  out.board = (await controller.sendCommand({name: 'showboard'})).content

  // An analysis that goes on until Sabaki sends protocol_version to stop it.
  let lines = []
  let analysis = controller.sendCommand({name: 'kata-analyze', args: ['B', '5']}, ({line}) => {
    lines.push(line)
    if (lines.length === 2) controller.sendCommand({name: 'protocol_version'})
  })
  await analysis
  out.analysis = lines

  let reports = []
  await controller.sendCommand({name: 'lz-genmove_analyze', args: ['B', '50']}, ({line}) => {
    reports.push(line)
  })
  out.reports = reports

  await tracker.sync({komi: 0, boardsize: [7, 5], history: [{name: 'play', args: ['B', 'G5']}]})
  out.rectangle = (await controller.sendCommand({name: 'showboard'})).content
  out.refusal = await tracker
    .sync({komi: 0, boardsize: [99, 99], history: []})
    .then(() => null)
    .catch(error => error.message)
  out.unknown = (await controller.sendCommand({name: 'nonsense'})).error
  await controller.stop()
  console.log(JSON.stringify(out))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
