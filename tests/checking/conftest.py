"""A project with one live test, made once and copied for each test: to record its cassette takes seconds."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from check_projects import ShopModel, ShopProject, served


@pytest.fixture(scope="session")
def recorded_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the project that is copied."""
    folder = tmp_path_factory.mktemp("shop") / "project"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ShopProject(folder).set_up()
    return folder


@pytest.fixture
def shop(recorded_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ShopProject:
    """A project with one live test, committed."""
    folder = tmp_path / "project"
    shutil.copytree(recorded_shop, folder, symlinks=True)
    monkeypatch.chdir(folder)
    return ShopProject(folder)


@pytest.fixture
def model(shop: ShopProject) -> Iterator[ShopModel]:
    """The real model of the project, which needs no key; the configuration that names it is committed."""
    with served(ShopModel()) as model:
        shop.configure(model.base_url)
        shop.commit()
        yield model
