package render

import (
	"encoding/base64"

	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/vterm"
)

// Bounds of the images in one document.
const (
	maxImages     = 256
	maxImageBytes = 8 << 20
)

// imageTable holds the images of a document as data URIs, each once: PNGs of our own making, nothing that a program sent.
type imageTable struct {
	uris    []string
	numbers map[*vterm.Image]int // in uris; -1: it is none, or the document has enough
	bytes   int
}

// number is where an image stands in uris; false: it is not shown.
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
