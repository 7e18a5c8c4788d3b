import Foundation
import HTTPTransport
import Testing

@testable import PaymentCore
@testable import Providers

/// What goes over the wire, to the byte.
struct RequestTests {
    private let book = OrderBook()
    private let base = "https://provider.example/card/transactions/"

    private func wire(_ order: SendOrder, amounts: AmountFormat = .minorUnits) async throws -> HTTPRequest {
        let sender = ScriptedSender()
        _ = try await scriptedProvider(sender, amounts: amounts).send(order)
        try #require(sender.requests.count == 1)
        return try #require(sender.requests.first)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test
    func `an authorization`() async throws {
        let order = try book.send(.authorize, notAfter: Timestamp(rfc3339: "2026-03-01T12:02:00.5Z"))
        let request = try await wire(order)
        #expect(request.method == .put)
        #expect(request.url == base + order.transactionKey.text)
        #expect(
            text(request.body) == """
                {"amount":{"currency":"JPY","value":1200},"instrument":"tok_9f3c2a7b1234","kind":"authorize",\
                "metadata":{"caller":"shop","leg":"0","payment":"\(try book.payment.text)","reference":"4711/a"}}
                """)
        #expect(
            request.fields.all == [
                HTTPFields.Field(name: "Accept", value: "application/json, application/problem+json"),
                HTTPFields.Field(name: "Not-After", value: "2026-03-01T12:02:00.500Z"),
                HTTPFields.Field(name: "Content-Type", value: "application/json"),
            ])
        #expect(request.label == "put_transaction")
        #expect(request.flightKey == "put:\(order.transactionKey.text)")
    }

    @Test
    func `a sale without a reference`() async throws {
        var book = OrderBook()
        book.reference = nil
        let request = try await wire(book.send(.sale))
        #expect(try request.url == base + (book.key(.sale).text))
        #expect(
            text(request.body) == """
                {"amount":{"currency":"JPY","value":1200},"instrument":"tok_9f3c2a7b1234","kind":"sale",\
                "metadata":{"caller":"shop","leg":"0","payment":"\(try book.payment.text)"}}
                """)
        #expect(request.fields["Not-After"] == nil)
    }

    @Test
    func `a capture and a refund`() async throws {
        for (kind, segment, label) in [
            (EffectKind.capture, "captures", "put_capture"), (.refund, "refunds", "put_refund"),
        ] {
            let order = try book.send(kind, 700)
            let request = try await wire(order)
            #expect(request.method == .put)
            #expect(request.url == base + "\(order.transactionKey.text)/\(segment)/\(order.key.text)")
            #expect(text(request.body) == #"{"amount":{"currency":"JPY","value":700}}"#)
            #expect(request.label == label)
            #expect(request.flightKey?.hasSuffix(order.key.text) == true)
        }
    }

    @Test
    func `a void has neither body nor Not-After`() async throws {
        let order = try book.send(.void, notAfter: StandingClock.noon)
        let request = try await wire(order)
        #expect(request.method == .post)
        #expect(request.url == base + order.transactionKey.text + "/void")
        #expect(request.body.isEmpty)
        #expect(request.fields["Not-After"] == nil)
        #expect(request.fields["Content-Type"] == nil)
    }

    @Test
    func `an inquiry is a plain read that may overlap others`() async throws {
        let sender = ScriptedSender()
        _ = try await scriptedProvider(sender).inquire(book.inquiry())
        let request = try #require(sender.requests.first)
        #expect(request.method == .get)
        #expect(try request.url == base + (book.key(.authorize).text))
        #expect(request.body.isEmpty && request.flightKey == nil && request.startBefore == nil)
    }

    @Test
    func `two attempts have the same body`() async throws {
        let first = try await wire(book.send(.authorize, notAfter: StandingClock.noon))
        let second = try await wire(
            try book.send(.authorize, notAfter: StandingClock.noon + .minutes(9), startBefore: StandingClock.noon))
        #expect(first.body == second.body)
        #expect(first.url == second.url)
    }

    @Test
    func `the start bound is carried over to the monotonic clock`() async throws {
        let before = ContinuousClock.now
        let order = try book.send(.authorize, startBefore: StandingClock.noon + .seconds(20))
        let bound = try #require(try await wire(order).startBefore)
        #expect(bound >= before + .seconds(20))
        #expect(bound <= ContinuousClock.now + .seconds(20))
        let past = try await wire(book.send(.authorize, startBefore: StandingClock.noon + .seconds(-1)))
        #expect(try #require(past.startBefore) < .now)
    }

    @Test
    func `points go over the wire in units of the provider`() async throws {
        let yen = try #require(Currency(code: "JPY"))
        let conversion = try AmountConversion(numerator: 2, denominator: 3, unitCode: "PTS", currency: yen)
        let request = try await wire(book.send(.capture, 1200), amounts: .converted(conversion))
        #expect(text(request.body) == #"{"amount":{"currency":"PTS","value":800}}"#)
    }

    @Test
    func `an amount that the provider cannot carry is refused without a request`() async throws {
        let yen = try #require(Currency(code: "JPY"))
        let conversion = try AmountConversion(numerator: 2, denominator: 3, unitCode: "PTS", currency: yen)
        let sender = ScriptedSender()
        let report = try await scriptedProvider(sender, amounts: .converted(conversion)).send(
            try book.send(.authorize, 1201))
        #expect(report.outcome == .refused && report.code == "amount_not_exact")
        #expect(sender.requests.isEmpty)
    }

    @Test
    func `a key or cursor cannot leave its place in the address`() throws {
        let address = try ProviderAddress("https://provider.example/card//")
        #expect(address.description == "https://provider.example/card")
        let url = address.url(path: ["transactions", "../é?#%/.."], query: [("cursor", "a&b=c d"), ("limit", "1")])
        #expect(
            url == "https://provider.example/card/transactions/%2E%2E%2F%C3%A9%3F%23%25%2F%2E%2E"
                + "?cursor=a%26b%3Dc%20d&limit=1")
    }

    @Test(arguments: [
        "", "provider.example", "ftp://provider.example", "https://", "https:///x", "https://:443/",
        "https://u:p@host/",
        "https://host/?a=b", "https://host/#f", "https://ho st/", "https://host\\x", "https://höst/",
        "https://host:99999", "https://host:0", "https://host:", "https://host:8x", "https://a..b", "https://.a",
        "https://a!b", "https://[::1", "https://[a]", "https://[::1]x",
    ])
    func `an odd address is refused`(text: String) {
        #expect(throws: ProviderAddress.Malformed.self) { try ProviderAddress(text) }
    }
}
