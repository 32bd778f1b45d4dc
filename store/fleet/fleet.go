// Package fleet is what several machines share over NATS: who belongs to them, what each says of itself, and the way of
// a byte from one to another. It knows no session: what is published are keys and opaque values.
//
//	ident     the fleet's certificate authority, its members' certificates, join codes, revocations
//	server    nats-server in this process: members by certificate, each with subjects of its own
//	link      a member's one connection: joining, the listener and the dialer, revocations
//	conn      a reliable ordered stream of bytes (net.Conn) over messages that may be lost
//	registry  hosts and their records in a JetStream key-value bucket; events in a stream
//	copies    what sessions printed, signed by their host, in streams that outlive it
//
// Who is who is told by certificates of the fleet's own authority, twice: to the server, which gives a connection the
// subjects that its certificate allows and no more; and end to end, in TLS from one host to the other inside the stream
// of bytes. So a server relays what it cannot read, and neither it nor another member can pose as a host.
//
// The local disk stays the truth: what is published can be lost and is published again.
package fleet

import (
	"fmt"
	"strconv"
	"strings"
)

// Names on NATS. A token FROM of a subject is enforced by the server: nobody else may publish there.
const (
	prefix = "lt"
	// Bucket holds the registry, Stream the events.
	Bucket = "LT_REGISTRY"
	Stream = "LT_EVENTS"
	// CopyStream holds what sessions printed, CopyRecords what is recorded of them.
	CopyStream  = "LT_COPIES"
	CopyRecords = "LT_COPY_RECORDS"
	// JoinSubject is where somebody with a join code asks for a certificate.
	JoinSubject = prefix + ".join"
	// JoinedSubjects are where answers to that come in: below the token of the code (ident.Code.Inbox). Older clients
	// get their answers directly below it.
	JoinedSubjects = "_INBOX_JOIN"
)

// Data is where packets from one member to another of one stream of bytes go.
func Data(to, from, id string) string { return prefix + ".c." + to + "." + from + "." + id }

// DataTo are all packets for a member.
func DataTo(to string) string { return prefix + ".c." + to + ".>" }

// DataFrom are all packets that a member may send.
func DataFrom(from string) string { return prefix + ".c.*." + from + ".>" }

// Hello is where who has a member's name answers.
func Hello(name string) string { return prefix + ".hello." + name }

// Event is where a member's events of a kind go, and EventsOf are all of them.
func Event(name, kind string) string { return prefix + ".ev." + name + "." + kind }

// EventsOf are the subjects of all events of a member; "*" is for all members.
func EventsOf(name string) string { return prefix + ".ev." + name + ".>" }

// Copy is where what a member's session printed goes, and CopyRecord what is recorded of it; "*" is for all of them.
func Copy(host, session string) string       { return prefix + ".cp." + host + "." + session }
func CopyRecord(host, session string) string { return prefix + ".cr." + host + "." + session }

// APIOf is the prefix of what a member asks of JetStream: the fleet's servers look at it before they pass it on.
func APIOf(name string) string { return prefix + ".js." + name }

// InboxOf is the prefix of answers to a member.
func InboxOf(name string) string { return "_INBOX_" + name }

// KeySubject is where a key of the bucket is written.
func KeySubject(key string) string { return "$KV." + Bucket + "." + key }

// Keys of the registry: one of each host, one of each block of its records, and cursors of readers of events. Hosts of an
// older version have a key for each record.
func HostKey(host string) string           { return "h." + host }
func RecordKey(host, record string) string { return "r." + host + "." + record }
func BlockKey(host string, n int) string   { return RecordKey(host, BlockMark+strconv.Itoa(n)) }
func CursorKey(host, reader string) string { return "c." + host + "." + reader }

// BlockMark begins what a block has below its host's name, where an older version has a record's: no record begins so.
const BlockMark = "_."

// RevokedKey holds the signed list of certificates that no longer count.
const RevokedKey = "a.revoked"

// CheckName says what is wrong with the name of a fleet, a host or a reader: names are parts of subjects and of
// certificates' host names.
func CheckName(name string) error {
	if name == "" || len(name) > 40 {
		return fmt.Errorf("the name %.60q has %d characters; give 1 to 40", name, len(name))
	}
	for _, r := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) {
			return fmt.Errorf("the name %q has %q in it; give small letters, digits and hyphens", name, r)
		}
	}
	if name[0] == '-' || name[len(name)-1] == '-' {
		return fmt.Errorf("the name %q begins or ends with a hyphen", name)
	}
	return nil
}
