internal import Foundation
internal import PaymentCore
internal import Reconciler
internal import SQLiteStore
internal import StoreContract

// Creates payments in the file given as the only argument until it is killed, eight at a time, and prints the id of
// each once it is acknowledged.
guard let path = CommandLine.arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("usage: SQLiteCrashWriter FILE\n".utf8))
    exit(2)
}
let clock = ManualClock()
var configuration = SQLiteStoreConfiguration()
configuration.clock = { clock.now() }
let scenario = Scenario(store: try SQLiteStore(path: path, configuration: configuration), clock: clock)
try await withThrowingTaskGroup { group in
    for task in 0..<8 {
        group.addTask {
            for number in 0... {
                let work = try await scenario.create(Scenario.Order("k\(task)-\(number)"))
                // One write for each line, so that a line is whole or not there.
                FileHandle.standardOutput.write(Data("\(work.payment.id)\n".utf8))
            }
        }
    }
    try await group.waitForAll()
}
