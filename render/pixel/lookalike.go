package pixel

import "github.com/longterm-dev/longterm/render/boxdraw"

// unknownSymbol is drawn for a private character that no font has. Such characters are icons, mostly of prompts: their
// code point would mean nothing to a reader.
const unknownSymbol = '▪'

// iconsOf are the characters that a character is drawn for if no font has these: private ones (Powerline Extra, and common
// icons of Nerd Fonts), and newer symbols.
var iconsOf = map[rune]string{
	'◀': "⏴⯇", '▲': "⏶⯅", '▼': "⏷⯆", '◉': "⦿⏻", '◎': "⦾", '↩': "⮐⮌", '➡': "⮕🡒🠒", '⌛': "⧗⧖",
	// Separators: ends of segments, then their outlines.
	0xe0b0: "\ue0c0\ue0c4\ue0c6\ue0c8\ue0cc\ue0ce\ue0cf\ue0d2",
	0xe0b2: "\ue0c2\ue0c5\ue0c7\ue0ca\ue0d4",
	0xe0b1: "\ue0c1\ue0cd\ue0d0\ue0d1", 0xe0b3: "\ue0c3\ue0cb",
	0xe0a0: "\uf09b\uf113\uf126\uf408\uf418\ue702\ue709\ue725\uf1d3\uf296\U000f02a2\U000f062c", // branches, git and its hosts
	0xe0a1: "\ue0a3",
	0xe0a2: "\uf023\uf13e\uf456\U000f033e",
	'✓':    "\uf00c\uf05d\uf058\uf42e\uf49e\uf4a4\ueab2\U000f012c", '✗': "ⓧ⨉\uf00d\uf057\uf467\uf52f\uea76\U000f0156",
	'⚠': "\uf071\uf421\uea6c\U000f0026", 'ℹ': "ⓘ\uf05a\uf129\uf449\uea74\U000f02fc", '?': "\uf059\uf128\uf420",
	'●': "\uf111\uf444\uea71", '○': "\uf10c\uf1db\uebb5", '■': "\uf04d\uf0c8", '▶': "⏵⯈\uf04b\ueb2c", '⏸': "\uf04c", '☰': "\uf0c9", '…': "\uf141",
	'+': "\uf067\uf457\uea60\uf0fe", '−': "\uf068\uf146\uf458", '±': "\uf459",
	'←': "\uf060\uea9b", '→': "\uf061\uea9c", '↑': "\uf062\uf431\ueaa1", '↓': "\uf063\uf433\uea9a", '↻': "\uf021\uf01e\uf46a\ueb37", '↺': "\uf1da\uf0e2\uf464",
	'❯': "\uf054\uf105\uf460\ueab6\uf120\ue795\uf489\uea85", '❮': "\uf053\uf104\ueab5", '▸': "\uf0da", '▾': "\uf0d7\uf078\uf107", '▴': "\uf0d8\uf077\uf106", '◂': "\uf0d9",
	'★': "\uf005", '☆': "\uf006", '♥': "\uf004", '☁': "\uf0c2\ue33d", '⚡': "\uf0e7\ue315\uf492", '⚙': "\uf013\uf085\ue615\uf423\ue5fc", '♪': "\uf001", '✎': "\uf040\uf044\uf448",
	'⬢': "\ue718\uf898\ued0d", '☕': "\uf0f4\ue738\ue204", '☀': "\uf185", '☾': "\uf186", '◷': "\uf017\ue641\uf43a\U000f0954", '∞': "\uf534",
	'🏠': "\uf015\uf46d\uf7db", '📁': "\uf07b\uf114\ue5ff\uf413\ue5fe\uea83", '📂': "\uf07c\uf115", '📄': "\uf15b\uf15c\uf016\uf0f6\uf40e\ue612\uea7b", '📦': "\uf1b2\uf1b3\uf487\uf8d6\ueb29",
	'🔍': "\uf002\uf422\uea6d", '👤': "\uf007\uf2c0\uf2be\uf415", '📅': "\uf073\uf133\uf455", '🔑': "\uf084\uf43d", '🗄': "\uf1c0\ue706\uf472", '🌐': "\uf0ac\uf484", '🔗': "\uf0c1\uf44c",
	'🗑': "\uf1f8\uf014\uf48e", '💾': "\uf0c7", '🚀': "\uf135\uf427", '🔥': "\uf06d\uf490", '🍃': "\uf06c", '🏷': "\uf02b\uf412", '🐛': "\uf188\uf46f", '🔔': "\uf0f3\uf49a", '🔋': "\uf240\uf241\uf242\uf243", '📶': "\uf1eb\U000f05a9",
	'🐍': "\ue606\ue73c\ue235", '🐳': "\uf308\ue7b0\ue650", '🦀': "\ue7a8\ue68b", '🐧': "\uf17c\ue712", '🍎': "\uf179\ue711", '🐹': "\ue626\ue627\ue724", '💎': "\ue739\ue791\ue21e", '🐘': "\ue73d\ue76e\ue608", '💧': "\ue62d", '🌙': "\ue620", '⎈': "\ue81d\U000f10fe", '🖥': "\uf108\uf109\uf233\uf473",
}

// lookalikes is iconsOf by the characters that fonts lack.
var lookalikes = func() map[rune]rune {
	m := map[rune]rune{}
	for shown, icons := range iconsOf {
		for _, icon := range icons {
			m[icon] = shown
		}
	}
	return m
}()

func isPrivate(r rune) bool {
	return r >= 0xe000 && r <= 0xf8ff || r >= 0xf0000 && r <= 0x10fffd
}

// substitute returns the character to draw for a character: a similar one for a symbol that no font has.
func (g *glyphs) substitute(r rune) rune {
	other, ok := lookalikes[r]
	switch {
	case !ok && !isPrivate(r) || boxdraw.Has(r):
		return r
	case !ok:
		other = unknownSymbol
	}
	if f, _, _ := g.fonts.find(&g.buf, r, false, false); f != nil {
		return r
	}
	return other
}
