import HTTPTransport

@testable import PaymentCore
@testable import Providers

/// Pages of a listing whose n-th transaction has the n-th key and changed in the n-th second of the window.
struct ListingBook {
    var window: ComparedWindow {
        get throws {
            guard let window = ComparedWindow(from: StandingClock.noon + .hours(-1), to: StandingClock.noon) else {
                throw WrongFixture()
            }
            return window
        }
    }

    func key(_ number: Int) -> String { "listed-key-" + String(10_000 + number) }

    func instant(_ number: Int) -> String { "2026-03-01T11:00:\(number < 10 ? "0" : "")\(number)Z" }

    func row(_ number: Int, updated: String? = nil) -> String {
        WireBodies.transaction(
            "captured", key: EffectKey(reported: key(number)),
            captures: [WireBodies.movement(EffectKey(reported: "capture-" + key(number)), "succeeded")],
            updated: updated ?? instant(number))
    }

    func page(_ numbers: [Int], next: String?) -> ScriptedSender.Step {
        page(rows: numbers.map { row($0) }, next: next)
    }

    func page(rows: [String], next: String?) -> ScriptedSender.Step {
        let cursor = next.map { "\"\($0)\"" } ?? "null"
        return answer(#"{"data":[\#(rows.joined(separator: ","))],"next_cursor":\#(cursor)}"#)
    }

    func answer(_ body: String) -> ScriptedSender.Step {
        ScriptedSender.answer(200, fields: .of("application/json"), body: body)
    }
}
