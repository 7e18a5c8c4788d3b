import HTTPEdge
import SeededChance
import StrictJSON
import Testing

@testable import PaymentAPI

/// Bodies that nobody meant to send, and where their failures are shown.
struct MutatedBodyTests {
    @Test func `mutations of a body never trap`() throws {
        let body = Array(RunningAPI.twoLegs.utf8)
        var mutator = Mutator(seed: 0x5EED, words: [body])
        var accepted = 0
        for _ in 0..<Mutator.rounds(10_000) {
            do {
                let value = try JSONReader.read(mutator.changed(body), maximumDepth: 16)
                accepted += 1
                _ = CardNumberScan.find(in: value)
                do { _ = try CreateBody(value, CardNumberFields()) } catch { #expect(error.status >= 400) }
            } catch {
                continue
            }
        }
        #expect(accepted > 500)
    }

    @Test func `a failure is shown where it is, but not a name that may be a card number`() throws {
        func field(_ body: String) -> String? {
            do {
                _ = try JSONReader.read(Array(body.utf8), maximumDepth: 16)
                return nil
            } catch {
                return FieldPath(error.path).text
            }
        }
        #expect(field(#"{"legs":[{},{"amount":{"value":01}}]}"#) == "legs[1].amount")
        #expect(field(#"{"legs":[{},{"amount":{"value":1x}}]}"#) == "legs[1].amount")
        #expect(field(#"{"legs":[{},{"amount":{"value":x}}]}"#) == "legs[1].amount.value")
        #expect(field(#"[[[tru]]]"#) == "[0][0][0]")
        #expect(field(#"{"a":{"4111111111111111":x}}"#) == "a.…")
        #expect(field(#"{"a b":[x]}"#) == "…[0]")
        #expect(field(#"{"a":1,"a":1}"#) == "a")
        #expect(field("nul") == "")
    }
}
