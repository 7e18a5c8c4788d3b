// How a leg is stored. The names are those of the format, which released versions wrote and read; the golden documents
// of the tests hold them.

extension Leg: Codable {
    private enum CodingKeys: String, CodingKey {
        case index, provider, instrument, amount, isOnePhase, primary, capture, void, compensation, knowledge
        case conclusiveReads, inquiries, notBefore
        case lost, captureLost, gone, capturedAmount, isCompensated
        case quarantine, named, standsSince, holdEnds, readWantedSince, disputes, keySpace
    }

    /// Reads a leg that any released version stored. Where both its hold and its capture were lost, the capture counts:
    /// it was lost later.
    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        let lost = try stored.decodeIfPresent(Reason.self, forKey: .lost).map(Loss.primary)
        let captureLost = try stored.decodeIfPresent(Reason.self, forKey: .captureLost).map(Loss.capture)
        var gone = try stored.decodeIfPresent(Gone.self, forKey: .gone)
        gone?.isGivenBack = try stored.decode(Bool.self, forKey: .isCompensated)
        self.init(
            index: try stored.decode(Int.self, forKey: .index),
            provider: try stored.decode(ProviderName.self, forKey: .provider),
            instrument: try stored.decode(Instrument.self, forKey: .instrument),
            amount: try stored.decode(Money.self, forKey: .amount),
            isOnePhase: try stored.decode(Bool.self, forKey: .isOnePhase),
            primary: try stored.decode(Effect.self, forKey: .primary),
            capture: try stored.decodeIfPresent(Effect.self, forKey: .capture),
            void: try stored.decodeIfPresent(Effect.self, forKey: .void),
            compensation: try stored.decodeIfPresent(Effect.self, forKey: .compensation),
            knowledge: try stored.decodeIfPresent(Observation.self, forKey: .knowledge),
            conclusiveReads: try stored.decode(Int.self, forKey: .conclusiveReads),
            inquiries: try stored.decode(Int.self, forKey: .inquiries),
            notBefore: try stored.decodeIfPresent(Timestamp.self, forKey: .notBefore),
            loss: captureLost ?? lost, gone: gone,
            capturedAmount: try stored.decode(Money.self, forKey: .capturedAmount),
            quarantine: try stored.decodeIfPresent(Quarantine.self, forKey: .quarantine),
            named: try stored.decodeIfPresent(PaymentID.self, forKey: .named),
            standsSince: try stored.decodeIfPresent(Timestamp.self, forKey: .standsSince),
            holdEnds: try stored.decodeIfPresent(Timestamp.self, forKey: .holdEnds),
            readWantedSince: try stored.decodeIfPresent(Timestamp.self, forKey: .readWantedSince),
            disputes: try stored.decodeIfPresent([Dispute].self, forKey: .disputes),
            keySpace: try stored.decodeIfPresent(KeySpace.self, forKey: .keySpace))
    }

    /// Writes it so that the version before reads it.
    public func encode(to encoder: any Encoder) throws {
        var stored = encoder.container(keyedBy: CodingKeys.self)
        try stored.encode(index, forKey: .index)
        try stored.encode(provider, forKey: .provider)
        try stored.encode(instrument, forKey: .instrument)
        try stored.encode(amount, forKey: .amount)
        try stored.encode(isOnePhase, forKey: .isOnePhase)
        try stored.encode(primary, forKey: .primary)
        try stored.encodeIfPresent(capture, forKey: .capture)
        try stored.encodeIfPresent(void, forKey: .void)
        try stored.encodeIfPresent(compensation, forKey: .compensation)
        try stored.encodeIfPresent(knowledge, forKey: .knowledge)
        try stored.encode(conclusiveReads, forKey: .conclusiveReads)
        try stored.encode(inquiries, forKey: .inquiries)
        try stored.encodeIfPresent(notBefore, forKey: .notBefore)
        try stored.encodeIfPresent(isLost ? loss?.reason : nil, forKey: .lost)
        try stored.encodeIfPresent(isCaptureLost ? loss?.reason : nil, forKey: .captureLost)
        try stored.encodeIfPresent(gone, forKey: .gone)
        try stored.encode(capturedAmount, forKey: .capturedAmount)
        try stored.encode(isCompensated, forKey: .isCompensated)
        try stored.encodeIfPresent(quarantine, forKey: .quarantine)
        try stored.encodeIfPresent(named, forKey: .named)
        try stored.encodeIfPresent(standsSince, forKey: .standsSince)
        try stored.encodeIfPresent(holdEnds, forKey: .holdEnds)
        try stored.encodeIfPresent(readWantedSince, forKey: .readWantedSince)
        try stored.encodeIfPresent(disputes, forKey: .disputes)
        try stored.encodeIfPresent(keySpace, forKey: .keySpace)
    }
}
