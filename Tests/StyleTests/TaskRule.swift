/// Concurrency is structured: no task outlives the code that started it.
enum TaskRule {
    /// The unstructured tasks that `Sources` starts.
    static func findings(in files: [SourceFile]) -> [Finding] {
        files.filter { $0.area == "Sources" }.flatMap { file in
            (file.swift?.code ?? []).enumerated().compactMap { index, line in
                guard startsTask(line) else { return nil }
                return Finding(
                    file: file.path, line: index + 1, problem: "an unstructured task",
                    allowed: "a task group, async let, or a service run by the composition root")
            }
        }
    }

    /// Whether a line of code starts a task with `Task {`, `Task(...)`, `Task.detached` or the like.
    static func startsTask(_ line: String) -> Bool {
        line.positions(ofWord: "Task").contains { end in
            var rest = line[end...]
            if rest.first == "<", let close = rest.firstIndex(of: ">") {
                rest = rest[rest.index(after: close)...]
            }
            let calls = [".detached", ".immediate", ".init", "("]
            return rest.drop { $0 == " " }.first == "{" || calls.contains { rest.hasPrefix($0) }
        }
    }
}
