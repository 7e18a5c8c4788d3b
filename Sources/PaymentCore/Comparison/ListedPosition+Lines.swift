extension ListedPosition {
    /// The transaction that is compared with ours, as a line.
    public var line: ListedLine {
        ListedLine(
            status: status, amount: amount, captured: captured, refunds: refunds, createdAt: createdAt,
            updatedAt: updatedAt, contradiction: contradiction)
    }

    /// All transactions under the key.
    public var lines: [ListedLine] { [line] + others }

    /// Whether the key has more than one transaction that counts: people decide about such a key, because whatever is
    /// sent under it may reach either of them.
    public var isShared: Bool { !others.isEmpty }

    /// Whether more than one transaction under the key holds or took money.
    public var isDoubled: Bool { others.contains(where: \.holdsMoney) }

    /// Whether later changes may have made of it what our books say. Of two transactions under one key at least one is
    /// not what they claim.
    func canBecome(_ ours: BookedPosition) -> Bool {
        let claimsMoney = ours.standing == .held || ours.standing == .taken
        return claimsMoney ? !isShared && line.canBecome(ours) : true
    }

    /// When any of them changed last.
    var lastChange: Timestamp? {
        isShared ? lines.compactMap(\.updatedAt).max() : updatedAt
    }

    /// What is shown of the key once another line was seen: a change of a transaction that is here, or one more.
    ///
    /// - Parameters:
    ///   - later: the lines that were seen after these.
    ///   - isAnswer: it was asked for after these were seen, so that of two changes of one moment it shows the later.
    public func joined(by later: ListedPosition, isAnswer: Bool = false) -> ListedPosition {
        var lines = lines
        // The lines of one page or answer are transactions of their own: no two of them became of one. What was shown
        // before is shown again, and is found first; only what is new may have become of another (seed 1727416294).
        var taken: Set<Int> = []
        var new: [ListedLine] = []
        for line in later.lines {
            let again = lines.indices.first {
                !taken.contains($0) && lines[$0].updatedAt == line.updatedAt && lines[$0].isRelated(to: line)
            }
            guard let index = again else {
                new.append(line)
                continue
            }
            taken.insert(index)
            if isAnswer || !lines[index].isLater(than: line) { lines[index] = line }
        }
        // The newest first: of a charge and an older hold the charge is what became of the charge that was shown before
        // (seed 1237345610).
        for line in ListedPosition.newestFirst(new) {
            if let index = lines.indices.first(where: { !taken.contains($0) && lines[$0].isRelated(to: line) }) {
                taken.insert(index)
                if !lines[index].isLater(than: line) { lines[index] = line }
            } else {
                taken.insert(lines.count)
                lines.append(line)
            }
        }
        let names = later.payment == nil && later.store == nil ? self : later
        return with(lines, naming: names)
    }

    private static func newestFirst(_ lines: [ListedLine]) -> [ListedLine] {
        let never = Timestamp(milliseconds: .min)
        return lines.enumerated().sorted { first, second in
            let moments = (first.element.updatedAt ?? never, second.element.updatedAt ?? never)
            return moments.0 == moments.1 ? first.offset < second.offset : moments.0 > moments.1
        }.map(\.element)
    }

    /// The same with the lines of another, each as a transaction of its own.
    public func beside(_ other: ListedPosition) -> ListedPosition {
        with(lines + other.lines.filter { !lines.contains($0) }, naming: self)
    }

    /// The same with that transaction in front that is to be compared with ours: the one that agrees with what our
    /// books claim, else one that holds money. Where none took or holds any, only that one is left.
    func arranged(for ours: BookedPosition?) -> ListedPosition {
        guard isShared else { return self }
        let lines = lines
        let claimed = lines.firstIndex { line in ours.map { line.agrees(with: $0) } ?? false }
        let index = claimed ?? lines.firstIndex(where: \.holdsMoney) ?? lines.indices.last ?? 0
        var rest = lines
        let main = rest.remove(at: index)
        // What ended beside one with money is the mark of a shared key (seed 7000005: ours expired, the other hold
        // stood, and reading the status again showed ours for ever).
        rest = rest.filter { $0.holdsMoney || $0.status == .pending || main.tookOrHolds }
        return with([main] + rest, naming: self)
    }

    /// The moments of lines of which only an inquiry can tell whether they are transactions of their own: one may be
    /// the other, changed or touched since. The newest is among them: an inquiry may show the other one.
    var untold: [Timestamp] {
        guard isShared else { return [] }
        let lines = lines
        return lines.filter { line in
            lines.contains { $0 != line && (line.relation(to: $0) != .another || $0.relation(to: line) != .another) }
        }
        .compactMap(\.updatedAt).sorted()
    }

    /// The same without the lines that changed last at these moments, but for those that are still shown. Two may have
    /// changed at the same moment (seed 1721265140).
    func without(_ moments: Set<Timestamp>, keeping shown: [ListedLine]) -> ListedPosition {
        let left = lines.filter { line in
            shown.contains(line) || line.updatedAt.map { !moments.contains($0) } ?? true
        }
        return left.isEmpty ? self : with(left, naming: self)
    }

    private func with(_ lines: [ListedLine], naming names: ListedPosition) -> ListedPosition {
        guard let main = lines.first else { return self }
        let others = Array(lines.dropFirst())
        let currencies = Set(lines.compactMap { $0.amount?.currency })
        return ListedPosition(
            key: key, payment: names.payment, leg: names.leg, status: main.status, amount: main.amount,
            captured: main.captured, refunds: main.refunds, createdAt: main.createdAt, updatedAt: main.updatedAt,
            contradiction: main.contradiction ?? (currencies.count > 1 ? "currencies_differ" : nil),
            others: others, store: names.store)
    }
}

extension ListedLine {
    /// Whether they are the same transaction, as far as it can be told by themselves.
    fileprivate func isRelated(to line: ListedLine) -> Bool {
        (isLater(than: line) ? line.relation(to: self) : relation(to: line)) == .same
    }

    /// Whether it was shown after another that was seen later than this.
    fileprivate func isLater(than line: ListedLine) -> Bool {
        guard let mine = updatedAt, let other = line.updatedAt else { return false }
        return mine == other ? progress > line.progress : mine > other
    }

    /// How far a transaction is on its way, for lines of one moment.
    private var progress: Int64 {
        switch status {
        case .pending: 0
        case .authorized: 1
        case .captured: 2 + refunded
        default: .max
        }
    }

    /// Whether a later change of it may be what our books say.
    fileprivate func canBecome(_ ours: BookedPosition) -> Bool {
        switch (ours.standing, status) {
        case (.held, .pending), (.taken, .pending), (.taken, .authorized): amount == ours.amount
        case (.taken, .captured):
            amount == ours.amount && captured == ours.captured && refunded <= ours.refunded.value
        default: false
        }
    }

    fileprivate var tookOrHolds: Bool { status == .authorized || status == .captured }

    /// Whether it is what our books claim.
    fileprivate func agrees(with ours: BookedPosition) -> Bool {
        switch ours.standing {
        case .undecided, .ended: false
        case .held: status == .authorized && amount == ours.amount
        // A sale that was reversed stands voided, beside a decline that came before it (seed 7715497905065).
        case .givenBack where status == .voided: amount == ours.amount
        case .taken, .givenBack:
            status == .captured && amount == ours.amount && captured == ours.captured
                && refunded == ours.refunded.value
        }
    }
}
