package render

import (
	"encoding/base64"

	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/vterm"
)

// Limits of the images in a document.
const (
	maxImages     = 256
	maxImageBytes = 8 << 20
)

// imageTable holds the images of a document as data URIs, each once. All are PNGs encoded here, never a program's
// bytes.
type imageTable struct {
	uris    []string
	numbers map[*vterm.Image]int // index in uris; -1: undecodable, or the document is full
	bytes   int
}

// number returns an image's index in uris, or false if it is not shown.
func (p *imageTable) number(img *vterm.Image) (int, bool) {
	if n, known := p.numbers[img]; known {
		return n, n >= 0
	}
	if p.numbers == nil {
		p.numbers = map[*vterm.Image]int{}
	}
	p.numbers[img] = -1
	if len(p.uris) >= maxImages || p.bytes >= maxImageBytes {
		return 0, false
	}
	b, err := termimage.PNG(img)
	if err != nil {
		return 0, false
	}
	p.numbers[img] = len(p.uris)
	p.uris = append(p.uris, "data:image/png;base64,"+base64.StdEncoding.EncodeToString(b))
	p.bytes += len(b)
	return p.numbers[img], true
}
