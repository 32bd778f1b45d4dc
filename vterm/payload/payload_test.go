package payload

import (
	"bytes"
	"hash/crc32"
	"testing"
	"unicode/utf8"
)

// sums are of 64 KiB of every payload: figures of different days are of the same bytes.
var sums = map[string]uint32{
	"dense_cells":             0xe7a9c694,
	"many_styles":             0x72c79e9b,
	"medium_cells":            0xead06626,
	"light_cells":             0xcab995da,
	"cursor_motion":           0xb7a52bce,
	"scrolling":               0xc86f4fc,
	"scrolling_bottom_region": 0x71b369e3,
	"scrolling_top_region":    0xd2968142,
	"scrolling_both_region":   0xf8da4349,
	"unicode":                 0xd4676b1e,
	"build_log":               0x22d1d59,
	"build_log_coloured":      0x4e43dfc9,
	"cjk_emoji":               0x1dd70c86,
	"full_screen":             0x6f435938,
	"ls_lR":                   0x6f61188a,
}

func TestGenerate(t *testing.T) {
	const size = 64 << 10
	for _, p := range All {
		data := p.Generate(size)
		if len(data) < size || !utf8.Valid(data) || p.About == "" {
			t.Errorf("%s: %d bytes, valid UTF-8: %v, about %q", p.Name, len(data), utf8.Valid(data), p.About)
		}
		if sum := crc32.ChecksumIEEE(data); sum != sums[p.Name] {
			t.Errorf("%s: checksum is %#x, was %#x when it was first measured", p.Name, sum, sums[p.Name])
		}
		if more := p.Generate(2 * size); !bytes.HasPrefix(more, data) {
			t.Errorf("%s: a longer payload starts differently", p.Name)
		}
		if len(p.Generate(0)) != 0 {
			t.Errorf("%s: a payload of size 0 has bytes", p.Name)
		}
	}
	if len(sums) != len(All) {
		t.Errorf("%d checksums for %d payloads", len(sums), len(All))
	}
}

func TestByName(t *testing.T) {
	for _, p := range All {
		if q, ok := ByName(p.Name); !ok || q.Name != p.Name {
			t.Errorf("%s is not found", p.Name)
		}
	}
	if _, ok := ByName("nonsense"); ok {
		t.Error("nonsense is found")
	}
}
