import Foundation
import PaymentCore
import Testing

@Suite struct IdentityTests {
    let fixture: Fixture
    let payment: PaymentID

    init() throws {
        fixture = try Fixture()
        payment = PaymentID(caller: fixture.caller, key: fixture.key)
    }

    private func source(
        caller: String = "shop", operation: String = "order-1", leg: Int = 0, _ effect: EffectKind = .authorize,
        generation: Int = 0
    ) throws -> EffectKey.Source {
        EffectKey.Source(
            caller: try CallerID(caller), payment: payment, operation: try IdempotencyKey(operation), leg: leg,
            effect: effect, generation: generation)
    }

    // Golden values: Python's hashlib.sha256 over the fields, each behind its length as 8 bytes, big end first.

    @Test func `a payment's identifier follows from caller and key`() {
        #expect(payment.text == "pay_b56088bb8ce7ce1f393f72960f32670942c74c03")
        #expect(PaymentID(text: payment.text) == payment)
    }

    @Test(arguments: [
        (KeyFormat.hex64, "6ff81464fa3b4cbac96ed4533b993417e97b8b8bbdbc35a0308807dadb1ab352"),
        (KeyFormat.hex40, "6ff81464fa3b4cbac96ed4533b993417e97b8b8b"),
        (KeyFormat.uuid, "6ff81464-fa3b-8cba-896e-d4533b993417"),
        (KeyFormat.base32of26, "N74BIZH2HNGLVSLO2RJTXGJUC7"),
    ])
    func `an effect's key follows from what it is for`(_ format: KeyFormat, _ text: String) throws {
        #expect(EffectKey(try source(), format: format).text == text)
    }

    @Test func `leg, effect and generation are part of a key`() throws {
        let key = EffectKey(try source(leg: 1, .refund, generation: 2), format: .hex64)
        #expect(key.text == "6994275666f5094a8e43aa0e63fc658976de5ba491ea7b24af434a2c117dda0e")
    }

    @Test func `no two sources share a key`() throws {
        var keys: Set<EffectKey> = []
        var count = 0
        for caller in ["shop", "shop1", "s", "1"] {
            for operation in ["order-1", "order-11", "1", "11", "order-1-1"] {
                for leg in [0, 1, 11] {
                    for effect in EffectKind.allCases {
                        for generation in [0, 1, 11] {
                            let source = try source(
                                caller: caller, operation: operation, leg: leg, effect, generation: generation)
                            keys.insert(EffectKey(source, format: .hex40))
                            count += 1
                        }
                    }
                }
            }
        }
        #expect(keys.count == count)
    }

    @Test func `fields cannot be shifted into each other`() throws {
        #expect(Digest(of: ["ab", "c"]) != Digest(of: ["a", "bc"]))
        #expect(Digest(of: ["ab"]) != Digest(of: ["ab", ""]))
        #expect(Digest(of: ["", "ab"]) != Digest(of: ["ab", ""]))
        let left = PaymentID(caller: try CallerID("shop-a"), key: try IdempotencyKey("b"))
        let right = PaymentID(caller: try CallerID("shop"), key: try IdempotencyKey("-ab"))
        #expect(left != right)
    }

    @Test func `keys do not depend on the time, on chance or on the worker`() throws {
        let contracts = try fixture.byName([.reference, .reference])
        let early = MachineContext(now: fixture.start, contracts: contracts)
        let late = MachineContext(now: fixture.start + .days(900), contracts: contracts, jitter: 999)
        let request = try fixture.request([.reference, .reference])
        let first = PaymentMachine.create(request, early).machine.payment
        let second = PaymentMachine.create(request, late).machine.payment
        #expect(first.id == second.id)
        #expect(first.legs.map(\.primary.key) == second.legs.map(\.primary.key))
    }

    @Test func `a UUID is of version 8 and variant 2`() {
        for number in 0..<200 {
            let text = Array(KeyFormat.uuid.encode(Digest(of: [String(number)])))
            #expect(text.count == 36 && text[14] == "8" && "89ab".contains(text[19]))
            #expect([8, 13, 18, 23].allSatisfy { text[$0] == "-" })
        }
    }

    @Test func `every format has its length and its letters`() {
        let digest = Digest(of: ["a"])
        #expect(KeyFormat.hex64.encode(digest).count == 64)
        #expect(KeyFormat.hex40.encode(digest).count == 40)
        for number in 0..<200 {
            let short = KeyFormat.base32of26.encode(Digest(of: [String(number)]))
            #expect(short.count == 26 && short.allSatisfy { "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".contains($0) })
        }
        #expect(KeyFormat.hex64.encode(digest).hasPrefix(KeyFormat.hex40.encode(digest)))
        #expect(Digest(hex: digest.hex) == digest)
        #expect(Digest(hex: digest.hex.uppercased()) == nil)
        #expect(Digest(hex: String(digest.hex.dropLast())) == nil)
    }

    @Test(arguments: ["", "-a", "_a", "A", "a b", "ä", "a.b", String(repeating: "a", count: 65)])
    func `a malformed name is refused`(_ name: String) {
        #expect(throws: MalformedName.self) { try CallerID(name) }
        #expect(throws: MalformedName.self) { try ProviderName(name) }
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode([ProviderName].self, from: JSONEncoder().encode([name]))
        }
    }

    @Test(arguments: ["", " ", "a b", "ä", "a\n", String(repeating: "a", count: 256)])
    func `a malformed idempotency key is refused`(_ key: String) {
        #expect(throws: MalformedName.self) { try IdempotencyKey(key) }
    }

    @Test func `the longest names are allowed`() throws {
        #expect(try CallerID(String(repeating: "0", count: 64)).name.count == 64)
        #expect(try IdempotencyKey(String(repeating: "~", count: 255)).text.count == 255)
    }

    @Test(arguments: [
        "", "pay_", "pay_b56088bb8ce7ce1f393f72960f32670942c74c0", "pay_b56088bb8ce7ce1f393f72960f32670942c74c033",
        "PAY_b56088bb8ce7ce1f393f72960f32670942c74c03", "pay_B56088bb8ce7ce1f393f72960f32670942c74c03",
        "xxx_b56088bb8ce7ce1f393f72960f32670942c74c03", "pay_b56088bb8ce7ce1f393f72960f32670942c74c0g",
    ])
    func `a malformed identifier is refused`(_ text: String) {
        #expect(PaymentID(text: text) == nil)
    }
}
