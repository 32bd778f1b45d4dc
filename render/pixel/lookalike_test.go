package pixel

import (
	"bytes"
	"image"
	"testing"

	"github.com/longterm-dev/longterm/render/boxdraw"
)

// hasSymbol reports whether a symbol is drawn as itself or as another character, not as a box with its code point.
func hasSymbol(g *glyphs, r rune) bool {
	r = g.substitute(r)
	f, _, _ := g.fonts.find(&g.buf, r, false, false)
	return f != nil || boxdraw.Has(r) || g.fonts.bitmap(r, image.Pt(10, 20), 15, image.Pt(1, 1)) != nil
}

// TestSymbolsOfTerminals checks that pictures have the symbols that programs in terminals commonly print, without fonts of
// the machine.
//
// FEATURES: R36
func TestSymbolsOfTerminals(t *testing.T) {
	var g glyphs
	g.init(image.Pt(10, 20), 15, 1, false)
	for _, r := range "✓✗✔✘●○◆◇■□▲▶▼◀★☆♥⏎⣾⠋…·•‣→←↑↓↔⇒➜❯❮λ✅❌✨⚡⚠⭐❓❗➕➖⏱⏳⏰⏩⏪⏭⏮⏯⏸⏹⏺⏻⏴⏵⏶⏷⌛⬢⬡⬤⬛⬜ℹⓘ⎇⚪⚫⚙☁☕⌘⌥⇧⎋↩" +
		"🚀📦🔥🐛🔧🔒🔑📝📁📂🗑💡🎉🐍🐳🦀🌐🔗🔍📊🧪🟢🔴🟡👍👋😀🙂" {
		if !hasSymbol(&g, r) {
			t.Errorf("%c (%U) is drawn as a box", r, r)
		}
	}
	for _, span := range [][2]rune{{0x2190, 0x21ff}, {0x2500, 0x25ff}, {0x2800, 0x28ff}, {0xe0a0, 0xe0d4}, {0xe5fa, 0xe6ac}, {0xf000, 0xf2e0}, {0xf0001, 0xf0100}} {
		for r := span[0]; r <= span[1]; r++ {
			if !hasSymbol(&g, r) {
				t.Errorf("%U is drawn as a box", r)
			}
		}
	}
	icons := 0
	for _, all := range iconsOf {
		icons += len([]rune(all))
	}
	if icons != len(lookalikes) {
		t.Errorf("%d icons, of which %d are different", icons, len(lookalikes))
	}
	for icon, shown := range lookalikes {
		f, _, _ := g.fonts.find(&g.buf, shown, false, false)
		if f == nil && !boxdraw.Has(shown) {
			t.Errorf("%c (%U), shown for %U, is in no font", shown, shown, icon)
		}
	}
	for _, r := range []rune{0xe000, 0xf8ff, 0x10fffd} {
		if g.substitute(r) != unknownSymbol {
			t.Errorf("%U is drawn as %c", r, g.substitute(r))
		}
	}
}

// TestSymbol_KeepsItsProportions checks that a symbol wider than its cell is as high as it is wide, and that text which is
// slightly too wide keeps its height.
//
// FEATURES: R36
func TestSymbol_KeepsItsProportions(t *testing.T) {
	var g glyphs
	g.init(image.Pt(20, 40), 30, 2, false)
	ink := func(text string) image.Rectangle {
		m := g.glyph(glyphKey{text: text, width: 1, doubled: image.Pt(1, 1)}).mask
		var b image.Rectangle
		for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
			for x := m.Rect.Min.X; x < m.Rect.Max.X; x++ {
				if m.AlphaAt(x, y).A > 0x40 {
					b = b.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		return b
	}
	if b := ink("⏱"); b.Dx() < 14 || b.Dy() > 2*b.Dx() || b.Min.X < -5 || b.Max.X > 25 || b.Min.Y < 4 || b.Max.Y > 36 {
		t.Errorf("a stopwatch in one cell of 20×40 fills %v", b)
	}
}

// TestBold_WithoutABoldFont checks that bold Chinese and bold symbols are heavier, and emoji are not.
//
// FEATURES: R36
func TestBold_WithoutABoldFont(t *testing.T) {
	var g glyphs
	g.init(image.Pt(20, 40), 30, 2, false)
	draw := func(text string, bold bool, width int) []byte {
		return g.glyph(glyphKey{text: text, bold: bold, width: width, doubled: image.Pt(1, 1)}).mask.Pix
	}
	sum := func(pix []byte) (n int) {
		for _, a := range pix {
			n += int(a)
		}
		return n
	}
	for _, text := range []string{"漢", "한", "あ"} {
		if plain, bold := sum(draw(text, false, 2)), sum(draw(text, true, 2)); bold < plain*21/20 {
			t.Errorf("%s: bold has %d of ink, plain %d", text, bold, plain)
		}
	}
	if plain, bold := sum(draw("⬡", false, 1)), sum(draw("⬡", true, 1)); bold < plain*21/20 {
		t.Errorf("⬡: bold has %d of ink, plain %d", bold, plain)
	}
	if !bytes.Equal(draw("🚀", false, 2), draw("🚀", true, 2)) {
		t.Error("a bold emoji is drawn differently")
	}
	// A font of the machine has one weight, too.
	g.fonts = &fonts{more: embedded().embedded[:1], embedded: embedded().embedded}
	for i := range g.fonts.embedded {
		g.fonts.embedded[i] = embedded().more[1]
	}
	clear(g.known)
	if plain, bold := sum(draw("x", false, 1)), sum(draw("x", true, 1)); bold < plain*21/20 {
		t.Errorf("x of a font of the machine: bold has %d of ink, plain %d", bold, plain)
	}
}
