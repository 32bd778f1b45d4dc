package pixel

import (
	"image"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/image/font/sfnt"
)

// systemFonts lists names of font files with many characters, as systems install them, best first. The first existing
// file of each list is used.
var systemFonts = [][]string{
	{"NotoSansMonoCJKsc-Regular.otf", "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansCJKjp-Regular.otf",
		"SourceHanSans-Regular.ttc", "wqy-microhei.ttc", "wqy-zenhei.ttc", "PingFang.ttc", "Hiragino Sans GB.ttc", "msyh.ttc", "msgothic.ttc"},
	{"DejaVuSans.ttf", "Apple Symbols.ttf", "seguisym.ttf"},
	{"NotoSansSymbols2-Regular.ttf", "NotoSansSymbols-Regular.ttf"},
	{"Symbola.ttf", "Symbola_hint.ttf"},
	{"SymbolsNerdFontMono-Regular.ttf", "SymbolsNerdFont-Regular.ttf"},
	{"unifont.otf", "unifont.ttf"},
}

var systemEmoji = []string{"NotoColorEmoji.ttf"}

// fontDirs returns the font directories of the supported systems.
func fontDirs() []string {
	dirs := []string{"/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".fonts"), filepath.Join(home, ".local/share/fonts"), filepath.Join(home, "Library/Fonts"))
	}
	if windows := os.Getenv("WINDIR"); windows != "" {
		dirs = append(dirs, filepath.Join(windows, "Fonts"))
	}
	return dirs
}

// maxFontEntries limits the search for fonts.
const maxFontEntries = 20000

// fontFiles returns the files below the font directories, by name.
func fontFiles() map[string]string {
	files := map[string]string{}
	left := maxFontEntries
	for _, dir := range fontDirs() {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if left--; left < 0 {
				return filepath.SkipAll
			}
			if err == nil && d.Type().IsRegular() && files[d.Name()] == "" {
				files[d.Name()] = path
			}
			return nil // what cannot be read has no font for us
		})
	}
	return files
}

// allFonts returns the embedded fonts and those of the machine, which it searches on first use.
var allFonts = sync.OnceValue(func() *fonts {
	f := *embedded()
	own := f.more
	f.more = nil
	files := fontFiles()
	for _, names := range systemFonts {
		for _, name := range names {
			if parsed := readFont(files[name]); parsed != nil {
				f.more = append(f.more, parsed)
				break
			}
		}
	}
	f.more = append(f.more, own...)
	for _, name := range systemEmoji {
		if file := openFont(files[name]); file != nil && f.color == nil {
			f.color = newBitmapEmoji(file)
		}
	}
	return &f
})

// openFont opens a font's file, or returns nil if it is unusable. It stays open: such fonts have tens of megabytes, but
// a picture needs a few characters.
func openFont(path string) *os.File {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	return f
}

// readFont returns the first font of a file, or nil if it is unusable.
func readFont(path string) *sfnt.Font {
	file := openFont(path)
	if file == nil {
		return nil
	}
	c, err := sfnt.ParseCollectionReaderAt(file)
	if err == nil && c.NumFonts() > 0 {
		if f, err := c.Font(0); err == nil {
			return f
		}
	}
	_ = file.Close() // read only
	return nil
}

// emoji returns a character as a colour picture that fits a box, or nil if no font has it.
func (f *fonts) emoji(text string, w, h int) *image.RGBA {
	if f.color == nil {
		return nil
	}
	return f.color.draw(text, w, h)
}
