internal import HTTPEdge

/// The routes of the console: pages, what they send, and what they are made of.
enum ConsoleRoute: String, Sendable, Hashable, RoutePattern {
    case now = "/console"
    case signIn = "/console/sign-in"
    case signOut = "/console/sign-out"
    case payments = "/console/payments"
    case paymentsTable = "/console/payments.csv"
    case payment = "/console/payments/{id}"
    case proposal = "/console/payments/{id}/repairs"
    case queue = "/console/queue"
    case discrepancy = "/console/discrepancies/{id}"
    case assignment = "/console/discrepancies/{id}/assignment"
    case comments = "/console/discrepancies/{id}/comments"
    case close = "/console/discrepancies/{id}/close"
    case differenceProposal = "/console/discrepancies/{id}/repairs"
    case repairs = "/console/repairs"
    case repair = "/console/repairs/{id}"
    case approval = "/console/repairs/{id}/approve"
    case rejection = "/console/repairs/{id}/reject"
    case comparisons = "/console/comparisons"
    case comparison = "/console/comparisons/{id}"
    case drills = "/console/drills"
    case site = "/console/site"
    case style = "/console/console.css"
    case script = "/console/console.js"
    case icon = "/console/icon.svg"

    /// The route of a path, which may end in a slash.
    static func found(_ path: Substring) -> (route: ConsoleRoute, id: String)? {
        find(path.hasSuffix("/") && !path.hasSuffix("//") ? path.dropLast() : path)
    }

    /// The methods that it takes.
    var methods: [String] {
        switch self {
        case .signIn: ["GET", "POST"]
        case .signOut, .proposal, .assignment, .comments, .close, .differenceProposal, .approval, .rejection: ["POST"]
        default: ["GET"]
        }
    }

    /// Whether it is there for whoever has not signed in.
    var isOpen: Bool { self == .signIn || asset != nil }

    /// A file that pages refer to; `nil` for pages.
    var asset: ConsoleAsset? {
        switch self {
        case .style: .style
        case .script: .script
        case .icon: .icon
        default: nil
        }
    }

    /// The pages that every page leads to, in order.
    static let menu: [(route: ConsoleRoute, name: String)] = [
        (.now, "Now"), (.payments, "Payments"), (.queue, "Queue"), (.repairs, "Repairs"),
        (.comparisons, "Comparisons"), (.drills, "Drills"), (.site, "Site"),
    ]

    /// The page of the menu that it belongs to.
    var section: ConsoleRoute {
        switch self {
        case .payment, .proposal, .paymentsTable: .payments
        case .discrepancy, .assignment, .comments, .close, .differenceProposal: .queue
        case .repair, .approval, .rejection: .repairs
        case .comparison: .comparisons
        default: self
        }
    }
}

/// A file that pages refer to.
enum ConsoleAsset: Sendable {
    case style, script, icon

    var contentType: String {
        switch self {
        case .style: "text/css; charset=utf-8"
        case .script: "text/javascript; charset=utf-8"
        case .icon: "image/svg+xml"
        }
    }

    var body: [UInt8] {
        switch self {
        case .style: PackageResources.console_css
        case .script: PackageResources.console_js
        case .icon: PackageResources.icon_svg
        }
    }
}
