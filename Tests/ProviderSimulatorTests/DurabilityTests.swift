import Foundation
import ProviderSimulator
import Testing

@Suite struct DurabilityTests {
    typealias F = SimulatorFixture

    @Test func `a ledger survives the end of its simulator`() async throws {
        try await inTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("ledger.sqlite").path
            let clock = ManualClock()
            var before: LedgerReport?
            try await withSimulator(database: file, clock: clock) { card async throws in
                _ = try await card.pay()
                _ = try await card.capture(value: 1000)
                try card.order(Fault(.pending), .sale)
                _ = try await card.pay("pending-key-00001", kind: "sale")
                try card.order(Fault(.lateDelivery), .sale)
                #expect(try await card.pay("late-key-00000001", kind: "sale") == .nothing)
                before = try await card.control.ledger("card")
            }
            clock.advance(60_000)
            try await withSimulator(database: file, clock: clock) { card async throws in
                #expect(try await card.inquire().transaction().status == "captured")
                #expect(try await card.pay().status == 200)
                #expect(try await card.ledger() == before?.transaction(F.key))
                try await card.eventually {
                    let late = try await card.inquire("late-key-00000001").status
                    let pending = try await card.inquire("pending-key-00001").transaction().status
                    return late == 200 && pending == "captured"
                }
            }
            let reports = try await LedgerFile.reports(database: file)
            #expect(reports.map(\.provider) == ["card"])
            #expect(reports.first?.totals.map(\.net) == [3400])
        }
    }

    @Test func `what was forgotten stays forgotten and stays in the books`() async throws {
        try await inTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("ledger.sqlite").path
            try await withSimulator(database: file) { card async throws in
                _ = try await card.pay(kind: "sale")
                try await card.control.forget(F.key, at: "card")
            }
            try await withSimulator(database: file) { card async throws in
                #expect(try await card.pay(kind: "sale").status == 201)
                #expect(try await card.ledger().isChargedTwice)
            }
        }
    }

    @Test func `a missing ledger is said to be missing`() async throws {
        await #expect(throws: SimulatorError.self) {
            _ = try await LedgerFile.reports(database: "/nowhere/ledger.sqlite")
        }
    }
}

func inTemporaryDirectory(_ test: (URL) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("provider-simulator-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let outcome: Result<Void, any Error>
    do {
        outcome = .success(try await test(directory))
    } catch {
        outcome = .failure(error)
    }
    try FileManager.default.removeItem(at: directory)
    try outcome.get()
}
