// Package fleet connects several machines over NATS: membership, published state, and streams of bytes. It knows no
// sessions: published keys hold opaque values.
//
//	certs     the fleet's certificate authority, its members' certificates, join codes, revocations
//	server    nats-server in this process: members by certificate, each restricted to its subjects
//	link      a member's one connection: joining, the listener and the dialer, revocations
//	stream    a reliable ordered stream of bytes (net.Conn) over messages that may be lost
//	registry  hosts and their records in a JetStream key-value bucket; events in a stream
//	replica   session output, signed by its host, in streams that outlive the host
//
// Certificates identify members twice: to the server, which restricts a connection to its subjects, and end to end by
// TLS inside the stream. So neither a server nor another member can read a stream or pose as a host.
//
// The local disk is authoritative: lost published state is published again.
package fleet

import (
	"fmt"
	"strconv"
	"strings"
)

// Names on NATS. The server enforces FROM tokens in subjects: only that member may publish there.
const (
	prefix = "lt"
	// Bucket holds the registry, Stream the events.
	Bucket = "LT_REGISTRY"
	Stream = "LT_EVENTS"
	// CopyStream holds replicated session output, CopyRecords the records of those sessions.
	CopyStream  = "LT_COPIES"
	CopyRecords = "LT_COPY_RECORDS"
	// JoinSubject receives certificate requests with join codes.
	JoinSubject = prefix + ".join"
	// JoinedSubjects is the prefix of the inboxes that receive answers to join requests: below it, the token of the
	// code (certs.Code.Inbox). Older clients receive their answers directly below the prefix.
	JoinedSubjects = "_INBOX_JOIN"
)

// DataSubject returns the subject of one stream's packets from one member to another.
func DataSubject(to, from, id string) string { return prefix + ".c." + to + "." + from + "." + id }

// DataPatternTo returns the pattern of all packets for a member.
func DataPatternTo(to string) string { return prefix + ".c." + to + ".>" }

// DataPatternFrom returns the pattern of all packets that a member may send.
func DataPatternFrom(from string) string { return prefix + ".c.*." + from + ".>" }

// NameSubject returns the subject on which the owner of a name answers.
func NameSubject(name string) string { return prefix + ".hello." + name }

// EventSubject returns the subject of a member's events of one kind.
func EventSubject(name, kind string) string { return prefix + ".ev." + name + "." + kind }

// EventPattern returns the pattern of all events of a member, or of all members for "*".
func EventPattern(name string) string { return prefix + ".ev." + name + ".>" }

// CopySubject returns the subject of a session's replicated output, CopyRecordSubject that of its record. Both accept "*".
func CopySubject(host, session string) string       { return prefix + ".cp." + host + "." + session }
func CopyRecordSubject(host, session string) string { return prefix + ".cr." + host + "." + session }

// APIPrefix returns the prefix of a member's JetStream requests, which the fleet's servers check before they forward them.
func APIPrefix(name string) string { return prefix + ".js." + name }

// InboxPrefix returns the prefix of answers to a member.
func InboxPrefix(name string) string { return "_INBOX_" + name }

// KeySubject returns the subject that a key of the bucket is written to.
func KeySubject(key string) string { return "$KV." + Bucket + "." + key }

// HostKey and the functions below return keys of the registry: one per host, one per block of its records, and the
// cursors of event readers. Hosts of an older version have a key for each record.
func HostKey(host string) string           { return "h." + host }
func RecordKey(host, record string) string { return "r." + host + "." + record }
func BlockKey(host string, n int) string   { return RecordKey(host, BlockMark+strconv.Itoa(n)) }
func CursorKey(host, reader string) string { return "c." + host + "." + reader }

// BlockMark is the start of a block's key after the host's name. No record's name starts with it, so records of older
// hosts are distinct.
const BlockMark = "_."

// RevokedKey is the key of the signed list of revoked certificates.
const RevokedKey = "a.revoked"

// CheckName returns an error unless name is valid for a fleet, a host or a reader: names are parts of subjects and of
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
		return fmt.Errorf("the name %q starts or ends with a hyphen", name)
	}
	return nil
}
