// Package copies keeps what sessions printed beyond their host's death: pieces of their journals, and what is recorded of
// them, in two JetStream streams of the fleet.
//
//	journal ─▶ Chunk (whole records, from a place on) ─▶ Seal: the host's signature ─▶ stream
//	stream ─▶ Open: signature, host, session, form ─▶ Merge ─▶ a journal again; what is missing is a counted gap
//
// A place is an offset of output and the number of records at it that stand for no output; it is the same in every
// version of a journal's files. The newest chunk in the stream says from where to go on, so nothing is remembered here,
// and a chunk that comes twice changes nothing.
//
// A member can have the server itself write to subjects of others (docs/fleet.md), so a subject is no proof of who wrote:
// a chunk counts with the signature of the host's certificate alone.
package copies

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

	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/journal"
)

// ErrForged is returned for what its host did not sign, ErrDamaged for what has not the form.
var (
	ErrForged  = errors.New("a copy in the fleet is not signed by its host")
	ErrDamaged = errors.New("a copy in the fleet is damaged")
)

// Place is where in a journal something stands.
type Place struct {
	Offset uint64 `json:"offset"`
	Marks  int    `json:"marks,omitempty"` // records at Offset that stand for no output
}

// past is the place after a record at p.
func (p Place) past(span uint64) Place {
	if span == 0 {
		return Place{p.Offset, p.Marks + 1}
	}
	return Place{Offset: p.Offset + span}
}

func (p Place) before(q Place) bool {
	return p.Offset < q.Offset || p.Offset == q.Offset && p.Marks < q.Marks
}

// Head says what a message is.
type Head struct {
	Host    string `json:"host"`
	Session string `json:"session"`
	Record  bool   `json:"record,omitempty"` // what is recorded of the session, no output
	From    Place  `json:"from"`
	To      Place  `json:"to"`
	End     uint64 `json:"end"` // of the journal when this was made
	Removed bool   `json:"removed,omitempty"`

	Kept time.Time `json:"-"` // when the fleet took it, by its server's clock: of what was read from there
	// Serial is that of the certificate it is signed with: a machine that had the host's name before had another one.
	Serial string `json:"-"`
}

// signedFor keeps signatures from being taken for those of something else.
const signedFor = "longterm fleet copy 1\n"

// Seal is a message as it is published: certificate, signature, head and body, each but the last with its length.
func Seal(id *ident.Identity, h Head, body []byte) ([]byte, error) {
	h.Host = id.Name
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	signed := part(nil, head)
	signed = append(signed, body...)
	sum := sha256.Sum256(append([]byte(signedFor), signed...))
	sig, err := id.Key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	out := part(nil, id.Cert.Raw)
	return append(part(out, sig), signed...), nil
}

func part(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func cut(b []byte) (head, rest []byte, err error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil, fmt.Errorf("%w: it ends early", ErrDamaged)
	}
	return b[k : k+int(n)], b[k+int(n):], nil //nolint:gosec // bounded by len(b)
}

// Open reads a message that a host's session is said to have: ErrForged, ErrDamaged.
func Open(ca *x509.Certificate, host, session string, b []byte) (Head, []byte, error) {
	var h Head
	der, rest, err := cut(b)
	if err != nil {
		return h, nil, err
	}
	sig, signed, err := cut(rest)
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
	who := ident.MemberOf(cert)
	pub, ok := cert.PublicKey.(*ecdsa.PublicKey)
	sum := sha256.Sum256(append([]byte(signedFor), signed...))
	if !ok || !ecdsa.VerifyASN1(pub, sum[:], sig) || who.Kind != ident.Host || who.Name != host {
		return h, nil, fmt.Errorf("%w: %s of %s", ErrForged, session, host)
	}
	head, body, err := cut(signed)
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

// Span is how much output a record stands for.
func Span(r *journal.Record) uint64 {
	switch r.Kind {
	case journal.KindOutput:
		return uint64(len(r.Data))
	case journal.KindGap:
		return r.Lost
	}
	return 0
}

// AppendRecord appends a record's form in a chunk: kind, time, length, payload.
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
	return part(dst, payload), nil
}

// maxSize bounds a terminal's size, and maxOffset what a journal can have.
const (
	maxSize   = 1 << 16
	maxOffset = 1 << 62
)

// Records reads the records of a chunk that begins at a place, in order.
func Records(from Place, b []byte, each func(at Place, r *journal.Record) error) (Place, error) {
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
		payload, rest, err := cut(b[1+k:])
		if err != nil {
			return at, err
		}
		if err := fill(&r, payload); err != nil {
			return at, err
		}
		span := Span(&r)
		if at.Offset > maxOffset || span > maxOffset {
			return at, fmt.Errorf("%w: offset %d", ErrDamaged, at.Offset)
		}
		if err := each(at, &r); err != nil {
			return at, err
		}
		at, b = at.past(span), rest
	}
	return at, nil
}

func fill(r *journal.Record, p []byte) error {
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
