/// What the other site's daemon says when it is asked for the newest term that it knows.
public enum PeerAnswer: Sendable, Hashable {
    /// Its newest term, and the site that is active in it.
    case knows(epoch: Int64, site: SiteName?)
    /// It did not answer, or its answer says nothing of this store; with the reason.
    case silent(String)
}
