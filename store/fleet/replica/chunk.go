// Package replica replicates session output so that it outlives its host: pieces of the journal and session records, in
// two JetStream streams.
//
//	journal ─▶ Chunk (whole records, from a place on) ─▶ Seal: the host's signature ─▶ stream
//	stream ─▶ Open: signature, host, session, form ─▶ Merge ─▶ a journal again; what is missing is a counted gap
//
// A place is an output offset plus the number of records without output at it. It is equal in every version of a
// journal's files. The newest chunk in the stream gives the place to resume from, so no state is kept here, and a
// duplicate chunk changes nothing.
//
// A member can make the server write to other members' subjects (docs/fleet.md), so a subject does not authenticate.
// Only the signature of the host's certificate does.
package replica

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/journal"
)

// ErrForged is returned for a message that its host did not sign, ErrDamaged for an invalid one.
var (
	ErrForged  = errors.New("a copy in the fleet is not signed by its host")
	ErrDamaged = errors.New("a copy in the fleet is damaged")
)

// Place is a position in a journal.
type Place struct {
	Offset uint64 `json:"offset"`
	Marks  int    `json:"marks,omitempty"` // number of records without output at Offset that precede the position
}

// past returns the place after a record at p that represents span bytes.
func (p Place) past(span uint64) Place {
	if span == 0 {
		return Place{p.Offset, p.Marks + 1}
	}
	return Place{Offset: p.Offset + span}
}

// before reports whether p precedes q.
func (p Place) before(q Place) bool {
	return p.Offset < q.Offset || p.Offset == q.Offset && p.Marks < q.Marks
}

// Head is the header of a message.
type Head struct {
	Host    string `json:"host"`
	Session string `json:"session"`
	Record  bool   `json:"record,omitempty"`  // the message contains the session's record instead of output
	From    Place  `json:"from"`              // place of the first record
	To      Place  `json:"to"`                // place after the last record
	End     uint64 `json:"end"`               // end of the host's journal when the message was made
	Removed bool   `json:"removed,omitempty"` // the session was removed

	Kept time.Time `json:"-"` // time of receipt by the server's clock, for messages read from the stream
	// Serial is the serial of the signing certificate. A machine that had the host's name earlier had another serial.
	Serial string `json:"-"`
}

// signaturePrefix is a prefix of the signed bytes, so that the signature is valid for nothing else.
const signaturePrefix = "longterm fleet copy 1\n"

// Seal encodes and signs a message: certificate, signature, head and body, all but the last with their length.
func Seal(id *certs.Identity, h Head, body []byte) ([]byte, error) {
	h.Host = id.Name
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	signed := appendPart(nil, head)
	signed = append(signed, body...)
	sum := sha256.Sum256(append([]byte(signaturePrefix), signed...))
	sig, err := id.Key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	out := appendPart(nil, id.Cert.Raw)
	return append(appendPart(out, sig), signed...), nil
}

// appendPart appends b with its length.
func appendPart(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// cutPart splits a part with its length off b.
func cutPart(b []byte) (head, rest []byte, err error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil, fmt.Errorf("%w: it ends early", ErrDamaged)
	}
	return b[k : k+int(n)], b[k+int(n):], nil //nolint:gosec // bounded by len(b)
}

// Open verifies and decodes a message of a host's session. It fails with ErrForged or ErrDamaged.
func Open(ca *x509.Certificate, host, session string, b []byte) (Head, []byte, error) {
	var h Head
	der, rest, err := cutPart(b)
	if err != nil {
		return h, nil, err
	}
	sig, signed, err := cutPart(rest)
	if err != nil {
		return h, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return h, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	// A host that died long ago has a certificate that expired since.
	at := cert.NotBefore.Add(time.Second)
	if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
		return h, nil, fmt.Errorf("%w: %w", ErrForged, err)
	}
	who := certs.MemberOf(cert)
	pub, ok := cert.PublicKey.(*ecdsa.PublicKey)
	sum := sha256.Sum256(append([]byte(signaturePrefix), signed...))
	if !ok || !ecdsa.VerifyASN1(pub, sum[:], sig) || who.Kind != certs.Host || who.Name != host {
		return h, nil, fmt.Errorf("%w: %s of %s", ErrForged, session, host)
	}
	head, body, err := cutPart(signed)
	if err != nil {
		return h, nil, err
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return h, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	h.Serial = who.Serial
	if h.Host != host || h.Session != session {
		return h, nil, fmt.Errorf("%w: it is of %.60s of %.60s", ErrForged, h.Session, h.Host)
	}
	return h, body, nil
}

// Span returns the number of output bytes that a record represents.
func Span(r *journal.Record) uint64 {
	switch r.Kind {
	case journal.KindOutput:
		return uint64(len(r.Data))
	case journal.KindGap:
		return r.Lost
	}
	return 0
}

// AppendRecord appends a record in the encoding of chunks: kind, time, length, payload.
func AppendRecord(dst []byte, r *journal.Record) ([]byte, error) {
	var payload []byte
	switch r.Kind {
	case journal.KindOutput, journal.KindMark:
		payload = r.Data
	case journal.KindResize:
		payload = binary.AppendVarint(binary.AppendVarint(nil, int64(r.Cols)), int64(r.Rows))
	case journal.KindGap:
		payload = binary.AppendUvarint(nil, r.Lost)
	case journal.KindExit:
		var err error
		if payload, err = json.Marshal(r.Exit); err != nil {
			return dst, err
		}
	default:
		return dst, fmt.Errorf("a record of the %s has no form in copies", r.Kind)
	}
	at := int64(0)
	if !r.Time.IsZero() {
		at = r.Time.UnixNano()
	}
	dst = binary.AppendVarint(append(dst, byte(r.Kind)), at)
	return appendPart(dst, payload), nil
}

// maxSize limits a terminal's size, maxOffset the offsets of a journal.
const (
	maxSize   = 1 << 16
	maxOffset = 1 << 62
)

// Records calls visit for each record of a chunk that starts at from, in order. It returns the place after the last
// one.
func Records(from Place, b []byte, visit func(at Place, r *journal.Record) error) (Place, error) {
	at := from
	for len(b) > 0 {
		r := journal.Record{Kind: journal.Kind(b[0]), Offset: at.Offset}
		ns, k := binary.Varint(b[1:])
		if k <= 0 {
			return at, fmt.Errorf("%w: a record without a time", ErrDamaged)
		}
		if ns != 0 {
			r.Time = time.Unix(0, ns)
		}
		payload, rest, err := cutPart(b[1+k:])
		if err != nil {
			return at, err
		}
		if err := decodePayload(&r, payload); err != nil {
			return at, err
		}
		span := Span(&r)
		if at.Offset > maxOffset || span > maxOffset {
			return at, fmt.Errorf("%w: offset %d", ErrDamaged, at.Offset)
		}
		if err := visit(at, &r); err != nil {
			return at, err
		}
		at, b = at.past(span), rest
	}
	return at, nil
}

// decodePayload decodes a payload into r.
func decodePayload(r *journal.Record, p []byte) error {
	bad := fmt.Errorf("%w: a record of the %s", ErrDamaged, r.Kind)
	switch r.Kind {
	case journal.KindOutput, journal.KindMark:
		r.Data = p
		if len(p) == 0 {
			return bad
		}
	case journal.KindResize:
		cols, n := binary.Varint(p)
		if n <= 0 {
			return bad
		}
		rows, m := binary.Varint(p[n:])
		if m <= 0 || cols < 1 || rows < 1 || cols >= maxSize || rows >= maxSize {
			return bad
		}
		r.Cols, r.Rows = int(cols), int(rows)
	case journal.KindGap:
		lost, n := binary.Uvarint(p)
		if n <= 0 {
			return bad
		}
		r.Lost = lost
	case journal.KindExit:
		if json.Unmarshal(p, &r.Exit) != nil {
			return bad
		}
	default:
		return bad
	}
	return nil
}
