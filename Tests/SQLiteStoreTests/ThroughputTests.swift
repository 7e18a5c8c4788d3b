internal import Foundation
internal import PaymentCore
internal import Reconciler
internal import SQLiteStore
internal import StoreContract
internal import Testing

@Suite struct ThroughputTests {
    /// Prints what this machine does; what it must do anywhere is far less.
    @Test func `64 callers that commit at once share flushes`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                let it = Scenario(store: store, clock: clock)
                let began = ContinuousClock.now
                try await withThrowingTaskGroup { group in
                    for caller in 0..<64 {
                        group.addTask {
                            for number in 0..<10 { try await it.settle(Scenario.Order("k\(caller)-\(number)")) }
                        }
                    }
                    try await group.waitForAll()
                }
                let seconds = (ContinuousClock.now - began) / .seconds(1)
                let counts = store.writeCounts
                #expect(counts.writes == 64 * 10 * 3)
                #expect(counts.transactions < counts.writes)
                print(
                    "grouped commits: \(Int(Double(counts.writes) / seconds)) a second, "
                        + "\(counts.writes) in \(counts.transactions) transactions")
            }
        }
    }
}
