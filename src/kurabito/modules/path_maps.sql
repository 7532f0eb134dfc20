-- name: of_module
SELECT core_prefix, downloader_prefix FROM path_maps WHERE module_id = :module_id ORDER BY core_prefix;

-- name: everything
SELECT module_id, core_prefix, downloader_prefix FROM path_maps ORDER BY module_id, core_prefix;

-- name: drop_of_module
DELETE FROM path_maps WHERE module_id = :module_id;

-- name: add
INSERT INTO path_maps (module_id, core_prefix, downloader_prefix) VALUES (:module_id, :core, :downloader);
