package pipeoutput

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// minConfidence is the confidence, 0 to 100, from which the library's guess counts. Texts of a few words reach 30.
const minConfidence = 30

// maxGuessed is the number of bytes that the library sees.
const maxGuessed = 4 << 10

// detectingDecoder is a decoder of a stream whose encoding is unknown. It passes UTF-8 without delay. At a byte order mark, or at
// the first bytes that are not UTF-8, it decides for the rest of the stream.
type detectingDecoder struct {
	w        io.Writer
	fallback encoding.Encoding // nil: Windows-1252
	decoder  io.WriteCloser    // nil: not UTF-8 yet, or unknown
	name     string            // of the detected encoding, as in the WHATWG standard; "": UTF-8
	started  bool              // the first bytes were looked at
	unknown  bool              // no encoding explains the bytes; they pass as they are
	partial  []byte            // incomplete character, or start of a byte order mark, at the end of the bytes so far
}

// Write implements io.Writer.
func (d *detectingDecoder) Write(p []byte) (int, error) {
	switch {
	case d.decoder != nil:
		return d.decoder.Write(p)
	case d.unknown:
		return d.w.Write(p)
	}
	b := append(d.partial, p...)
	d.partial = nil
	if !d.started {
		rest, name, isPartial := cutByteOrderMark(b)
		if isPartial {
			d.partial = b
			return len(p), nil
		}
		if d.started = true; name != "" {
			return len(p), d.decide(rest, name)
		}
	}
	valid := validPrefix(b)
	if rest := b[valid:]; len(rest) > 0 && utf8.FullRune(rest) {
		if _, err := d.w.Write(b[:valid]); err != nil {
			return 0, err
		}
		return len(p), d.decide(rest, d.guess(b))
	}
	d.partial = bytes.Clone(b[valid:])
	_, err := d.w.Write(b[:valid])
	return len(p), err
}

// decide starts to decode with a named encoding from the given bytes on, or passes them as they are if name is "".
func (d *detectingDecoder) decide(b []byte, name string) error {
	e, err := htmlindex.Get(name)
	if name == "" || err != nil {
		d.unknown = true
		_, err := d.w.Write(b)
		return err
	}
	d.name = name
	d.decoder = transform.NewWriter(d.w, e.NewDecoder())
	_, err = d.decoder.Write(b)
	return err
}

// guess returns the name of the encoding of a text that is not UTF-8, or "" for binary data.
func (d *detectingDecoder) guess(b []byte) string {
	if bytes.ContainsFunc(b, func(c rune) bool { return c < ' ' && !strings.ContainsRune("\a\b\t\n\v\f\r\x0e\x0f\x1b", c) }) {
		return ""
	}
	if d.fallback != nil {
		return nameOf(d.fallback)
	}
	if r, err := chardet.NewTextDetector().DetectBest(b[:min(len(b), maxGuessed)]); err == nil && r.Confidence >= minConfidence {
		if e, err := htmlindex.Get(r.Charset); err == nil {
			return nameOf(e)
		}
	}
	return nameOf(charmap.Windows1252)
}

// Close writes an incomplete character. It does not close the writer.
func (d *detectingDecoder) Close() error {
	if d.decoder != nil {
		return d.decoder.Close()
	}
	if len(d.partial) == 0 {
		return nil
	}
	rest := d.partial
	d.partial, d.started = nil, true
	if d.unknown = utf8.Valid(rest); d.unknown {
		_, err := d.w.Write(rest)
		return err
	}
	if err := d.decide(rest, d.guess(rest)); err != nil || d.decoder == nil {
		return err
	}
	return d.decoder.Close()
}

// byteOrderMarks maps marks at the start of a stream to their encodings.
var byteOrderMarks = map[string]string{"\xef\xbb\xbf": "utf-8", "\xff\xfe": "utf-16le", "\xfe\xff": "utf-16be"}

// cutByteOrderMark removes a byte order mark from the start of a stream and returns the encoding that it names, or "". isPartial
// reports that more bytes decide whether b starts with a mark.
func cutByteOrderMark(b []byte) (rest []byte, name string, isPartial bool) {
	for mark, name := range byteOrderMarks {
		if rest, ok := bytes.CutPrefix(b, []byte(mark)); ok {
			return rest, name, false
		}
		isPartial = isPartial || strings.HasPrefix(mark, string(b))
	}
	return b, "", isPartial
}

// validPrefix returns the length of the UTF-8 at the start of b.
func validPrefix(b []byte) int {
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		n += size
	}
	return n
}

// encodingOfLocale returns the encoding of a locale such as ja_JP.SJIS, or nil if it names none or UTF-8.
func encodingOfLocale(locale string) encoding.Encoding {
	_, name, _ := strings.Cut(locale, ".")
	name, _, _ = strings.Cut(name, "@")
	e, err := htmlindex.Get(name)
	if err != nil || nameOf(e) == "utf-8" {
		return nil
	}
	return e
}

// nameOf returns the name of an encoding in the WHATWG standard.
func nameOf(e encoding.Encoding) string {
	name, _ := htmlindex.Name(e) // only of encodings that the standard has
	return name
}
