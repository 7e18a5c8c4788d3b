import ProgramEdge

/// One result: a line of JSON for programs, or lines for people.
protocol SimulateResult: Encodable {
    /// Says it to people.
    func draw(on screen: Screen)
}

/// Where the results go.
struct SimulateScreen {
    private let isJSON: Bool
    let screen: Screen

    init(format: OutputFormat) {
        isJSON = format == .json
        screen = Screen(isJSON: isJSON)
    }

    /// For programs or for people, whoever reads.
    func show(_ result: some SimulateResult) throws {
        if isJSON {
            print(String(decoding: try DemoJSON.encode(result), as: UTF8.self))
        } else {
            result.draw(on: screen)
        }
    }

    /// For people only.
    func say(_ text: String = "") {
        if !isJSON { screen.say(text) }
    }

    /// How far it is; on a terminal only.
    func progress(_ text: String) {
        if screen.isTerminal { screen.redraw(screen.faint("  " + text)) }
    }
}

extension Screen {
    /// A timeline, with an empty line below it.
    func say(timeline: [String]) {
        for line in timeline { say("  " + line) }
        say()
    }
}

extension Words {
    /// The text, and blanks up to the next column, at least one.
    static func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    /// The number at the right edge of a column.
    static func column(_ number: Int, _ width: Int) -> String {
        let text = count(number)
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension Duration {
    /// In seconds, to the millisecond.
    var inSeconds: Double { Double(Words.milliseconds(self)) / 1_000 }
}
