import Testing

@testable import HTTPTransport

@Suite struct `The progress of a transfer` {
    private let start = ContinuousClock.now
    private let limits = TimeLimits(
        connect: .seconds(1), tls: .seconds(2), firstByte: .seconds(3), total: .seconds(10))

    private func progress(
        secure: Bool, body: Int = 0, startBefore: Duration? = nil
    ) -> TransferProgress {
        let request = HTTPRequest(
            method: .post, url: "https://a/", body: [UInt8](repeating: 0, count: body), limits: limits,
            startBefore: startBefore.map { start + $0 }, label: "authorize")
        return TransferProgress(request, secure: secure, now: start)
    }

    @Test func `each limit begins when its part begins`() {
        var progress = progress(secure: true)
        #expect(progress.expired(now: start + .seconds(9)) == nil)
        #expect(progress.connecting(.resolving, now: start + .seconds(4)) == true)
        #expect(progress.connecting(.connecting, now: start + .seconds(4.5)) == true)
        #expect(progress.nextDeadline == start + .seconds(5))
        #expect(progress.expired(now: start + .seconds(5)) == .connectTimeout)
        progress.securing(now: start + .seconds(4.8))
        #expect(progress.nextDeadline == start + .seconds(6.8))
        #expect(progress.expired(now: start + .seconds(7)) == .tlsTimeout)
        #expect(progress.mayWrite(now: start + .seconds(5)) == true)
        #expect(progress.expired(now: start + .seconds(8)) == .firstByteTimeout)
        #expect(progress.received(.accepted) == true)
        #expect(progress.nextDeadline == start + .seconds(10))
        #expect(progress.expired(now: start + .seconds(10)) == .totalTimeout)
    }

    @Test func `in cleartext nothing counts as sending until a byte was written`() {
        var progress = progress(secure: false, body: 4)
        #expect(progress.mayWrite(now: start) == true)
        #expect(progress.phase == .connected)
        #expect(progress.bytesWritten == 0)
        progress.wroteHead(10, endsHead: false)
        #expect(progress.phase == .sending)
        progress.wroteHead(10, endsHead: true)
        progress.wroteBody(3)
        #expect(progress.phase == .sending)
        progress.wroteBody(1)
        #expect(progress.phase == .sent)
        #expect(progress.bytesWritten == 24)
    }

    @Test func `through TLS a byte counts as written as soon as one may be`() {
        var progress = progress(secure: true, body: 4)
        #expect(progress.bytesWritten == 0)
        #expect(progress.mayWrite(now: start) == true)
        #expect(progress.phase == .sending)
        #expect(progress.bytesWritten == 1)
    }

    @Test func `a second write or a new connection after the first is refused`() {
        for second in ["write", "connect"] {
            var progress = progress(secure: false)
            #expect(progress.mayWrite(now: start) == true)
            let allowed =
                second == "write"
                ? progress.mayWrite(now: start) : progress.connecting(.connecting, now: start)
            #expect(!allowed)
            #expect(progress.refusal == .resendOnDeadConnection)
        }
    }

    @Test func `the start time is judged to the instant and no longer once bytes left`() {
        var late = progress(secure: false, startBefore: .seconds(1))
        #expect(late.mayWrite(now: start + .seconds(1)) == false)
        #expect(late.refusal == .expiredBeforeSend)
        #expect(late.phase == .connected)
        #expect(late.bytesWritten == 0)

        var stuck = progress(secure: false, startBefore: .seconds(1))
        #expect(stuck.mayWrite(now: start) == true)
        #expect(stuck.expired(now: start + .seconds(1)) == .expiredBeforeSend)
        stuck.wroteHead(1, endsHead: false)
        #expect(stuck.expired(now: start + .seconds(1)) == nil)
    }

    @Test func `a refused answer is remembered`() {
        var progress = progress(secure: false)
        #expect(progress.received(.tooLarge) == false)
        #expect(progress.refusal == .responseTooLarge)
        #expect(progress.phase == .receiving)
    }
}

@Suite struct `The collection of an answer` {
    private func header(_ collector: inout ResponseCollector, _ line: String) -> ResponseCollector.Verdict {
        Array(line.utf8).withUnsafeBytes { collector.header($0) }
    }

    @Test func `a folded line continues the one before`() {
        var collector = ResponseCollector(maximumBodyBytes: 10)
        for line in ["HTTP/1.1 200 OK\r\n", "A:  one \r\n", "\t two\r\n", "\r\n"] {
            #expect(header(&collector, line) == .accepted)
        }
        #expect(collector.fields == HTTPFields([("A", "one two")]))
    }

    @Test func `a line without a name is malformed`() {
        var collector = ResponseCollector(maximumBodyBytes: 10)
        #expect(header(&collector, "HTTP/1.1 200 OK\r\n") == .accepted)
        #expect(header(&collector, "nonsense\r\n") == .malformed)
        #expect(header(&collector, ": value\r\n") == .malformed)
    }

    @Test func `body, header bytes and header lines are bounded`() {
        var collector = ResponseCollector(maximumBodyBytes: 4)
        let four: [UInt8] = [1, 2, 3, 4]
        #expect(four.withUnsafeBytes { collector.append($0) } == .accepted)
        #expect([UInt8(5)].withUnsafeBytes { collector.append($0) } == .tooLarge)
        var lines = ResponseCollector(maximumBodyBytes: 4)
        #expect(header(&lines, "HTTP/1.1 200 OK\r\n") == .accepted)
        let verdicts = (1...ResponseCollector.maximumHeaderLines).map { header(&lines, "A\($0): b\r\n") }
        #expect(verdicts.last == .tooLarge)
        #expect(verdicts.dropLast().allSatisfy { $0 == .accepted })
        var bytes = ResponseCollector(maximumBodyBytes: 4)
        let long = "A: " + String(repeating: "b", count: ResponseCollector.maximumHeaderBytes)
        #expect(header(&bytes, long) == .tooLarge)
    }
}

@Suite struct `Fields, targets and failures` {
    @Test func `fields keep their order and are found in any case`() {
        var fields = HTTPFields([("Accept", "a"), ("X-One", "1"), ("ACCEPT", "b")])
        #expect(fields["accept"] == "a")
        #expect(fields.values(of: "Accept") == ["a", "b"])
        fields["x-one"] = "2"
        #expect(fields.all.map(\.name) == ["Accept", "ACCEPT", "x-one"])
        fields["accept"] = nil
        #expect(fields.all.count == 1)
    }

    @Test(arguments: [
        ("A", "b\nc"), ("A", "b\rc"), ("A", "b\u{0}"), ("A B", "c"), ("", "c"), ("A:", "c"), ("Ä", "c"),
        ("A", "\u{7F}"),
    ])
    func `a field that could break the message is named`(name: String, value: String) {
        #expect(HTTPFields([("Good", "tab\there"), (name, value)]).firstInvalid == name)
        #expect(HTTPFields([("Good", "tab\there ü")]).firstInvalid == nil)
    }

    @Test func `the authority of a URL is found without its path`() {
        #expect(RequestTarget("https://api.example:8443/v1/k?secret=1")?.authority == "api.example:8443")
        #expect(RequestTarget("HTTPS://api.example")?.secure == true)
        #expect(RequestTarget("http://[::1]:80/")?.authority == "[::1]:80")
        for bad in [
            "", "https://", "https:///x", "https://u@h/", "https://h/#f", "file:///etc", "https://h\\x",
        ] {
            #expect(RequestTarget(bad) == nil, "\(bad)")
        }
    }

    @Test func `only a failure before the first byte proves that nothing was sent`() {
        for rawValue in Phase.waiting.rawValue...Phase.complete.rawValue {
            let phase = Phase(rawValue: rawValue) ?? .complete
            let silent = TransportFailure(code: .other, phase: phase)
            #expect(silent.provablyNotSent == (phase < .sending))
            #expect(!TransportFailure(code: .other, phase: phase, bytesWritten: 1).provablyNotSent)
        }
    }

    @Test(arguments: [
        (Duration.milliseconds(1), 1), (.microseconds(1_001), 2), (.seconds(2), 2_000),
        (.seconds(1e9), 86_400_000),
        (.zero, 1), (.seconds(-3), 1),
    ])
    func `a duration is rounded up to milliseconds`(duration: Duration, expected: Int) {
        #expect(duration.milliseconds == expected)
    }
}
