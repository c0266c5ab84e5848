"""``newron plot``."""


class TestPlot:
    def test_a_picture(self, run, model, data, tmp_path):
        assert run("plot", model, "-o", "a.svg").stderr == "written to a.svg\n"
        words = ("plot", model, "-o", "b.svg", "--data", data, "--row", "3", "--title", "Here")
        assert run(*words).exit_code == 0
        plain, with_row = ((tmp_path / name).read_text("utf-8") for name in ("a.svg", "b.svg"))
        assert plain.startswith("<svg")
        assert "Here" in with_row
        assert len(with_row) > len(plain)

    def test_what_cannot_be(self, fails, run, model, data):
        run("plot", model, "-o", "a.svg")
        assert "--force" in fails("plot", model, "-o", "a.svg")
        assert "--data" in fails("plot", model, "-o", "b.svg", "--row", "1")
        assert ".svg, .png, .pdf" in fails("plot", model, "-o", "b.gif")
        assert "layout" in fails("plot", model, "-o", "b.svg", "--layout", "round")
