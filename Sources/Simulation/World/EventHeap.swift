/// What is to happen, by time; what is for the same time happens in the order in which it was put in.
struct EventHeap<Step> {
    struct Entry {
        let at: Int64
        let sequence: UInt64
        let step: Step

        func isBefore(_ other: Entry) -> Bool { at != other.at ? at < other.at : sequence < other.sequence }
    }

    private var entries: [Entry] = []
    private var nextSequence: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    mutating func push(_ step: Step, at moment: Int64) {
        entries.append(Entry(at: moment, sequence: nextSequence, step: step))
        nextSequence += 1
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].isBefore(entries[parent]) else { return }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    mutating func pop() -> Entry? {
        guard let first = entries.first, let last = entries.popLast() else { return nil }
        guard !entries.isEmpty else { return first }
        entries[0] = last
        var index = 0
        while true {
            let left = 2 * index + 1
            guard left < entries.count else { return first }
            let right = left + 1
            let child = right < entries.count && entries[right].isBefore(entries[left]) ? right : left
            guard entries[child].isBefore(entries[index]) else { return first }
            entries.swapAt(index, child)
            index = child
        }
    }
}

/// Slots for what an event is about, so that the event itself stays small.
struct Slots<Element> {
    private var elements: [Element?] = []
    private var free: [Int] = []

    mutating func put(_ element: Element) -> Int {
        guard let slot = free.popLast() else {
            elements.append(element)
            return elements.count - 1
        }
        elements[slot] = element
        return slot
    }

    mutating func take(_ slot: Int) -> Element? {
        guard elements.indices.contains(slot), let element = elements[slot] else { return nil }
        elements[slot] = nil
        free.append(slot)
        return element
    }

    func contains(where isWanted: (Element) -> Bool) -> Bool {
        elements.contains { $0.map(isWanted) ?? false }
    }

    subscript(slot: Int) -> Element? {
        get { elements.indices.contains(slot) ? elements[slot] : nil }
        set { if elements.indices.contains(slot) { elements[slot] = newValue } }
    }
}
