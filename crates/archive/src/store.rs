//! The store as this crate uses it: whole objects by name, one call after the other.

use crate::{ArchiveError, Result, Target};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Small objects asked for at once.
const AT_ONCE: usize = 16;
/// A request that takes longer has failed; a large segment may need minutes on a slow line.
const REQUEST: Duration = Duration::from_secs(300);

/// A store behind blocking calls.
pub(crate) struct Store {
    inner: Arc<dyn ObjectStore>,
    runtime: Runtime,
    /// Where it is, if it is a folder.
    dir: Option<PathBuf>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({})", self.inner)
    }
}

fn failed(what: &'static str, object: &str, e: &object_store::Error) -> ArchiveError {
    if let object_store::Error::NotFound { .. } = e {
        return ArchiveError::Missing(object.to_owned());
    }
    // The causes say more than the first line.
    let mut why = e.to_string();
    let mut cause = std::error::Error::source(e);
    while let Some(c) = cause {
        let text = c.to_string();
        if !why.contains(&text) {
            why = format!("{why}: {text}");
        }
        cause = c.source();
    }
    ArchiveError::Store {
        what,
        object: object.to_owned(),
        why: why.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

impl Store {
    /// Opens a store; nothing is asked of it yet. `make`: a folder that is not there is made.
    pub fn open(target: &Target, make: bool) -> Result<Store> {
        let inner: Arc<dyn ObjectStore> = match target {
            Target::Folder(dir) => {
                if make {
                    std::fs::create_dir_all(dir).map_err(|source| ArchiveError::Io {
                        what: "making",
                        path: dir.clone(),
                        source,
                    })?;
                }
                let folder = LocalFileSystem::new_with_prefix(dir)
                    .map_err(|e| failed("opening", &dir.display().to_string(), &e))?;
                Arc::new(folder.with_fsync(true))
            }
            Target::S3 {
                bucket,
                prefix,
                endpoint,
                region,
            } => {
                // The client takes what the process has; a second one changes nothing.
                let _ = rustls::crypto::ring::default_provider().install_default();
                let from_env = |names: [&str; 2]| names.iter().find_map(|n| std::env::var(n).ok());
                let endpoint = endpoint
                    .clone()
                    .or_else(|| from_env(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]));
                let plain = endpoint.as_deref().is_some_and(|e| e.starts_with("http:"));
                let mut s3 = AmazonS3Builder::from_env()
                    .with_bucket_name(bucket)
                    .with_client_options(
                        ClientOptions::new()
                            .with_timeout(REQUEST)
                            .with_connect_timeout(Duration::from_secs(10))
                            .with_allow_http(plain),
                    )
                    // Objects go one by one, and not every store has the call for many.
                    .with_disable_bulk_delete(true)
                    // Trying again is the archiver's own business, and it says so.
                    .with_retry(RetryConfig {
                        max_retries: if make { 0 } else { 3 },
                        retry_timeout: Duration::from_secs(10),
                        ..RetryConfig::default()
                    });
                if let Some(endpoint) = endpoint {
                    s3 = s3.with_endpoint(endpoint);
                }
                if let Some(region) = region {
                    s3 = s3.with_region(region);
                }
                let s3 = s3.build().map_err(|e| failed("opening", bucket, &e))?;
                Arc::new(PrefixStore::new(s3, prefix.as_str()))
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| ArchiveError::Store {
                what: "opening",
                object: "the store".into(),
                why: e.to_string(),
            })?;
        let dir = match target {
            Target::Folder(dir) => Some(dir.clone()),
            Target::S3 { .. } => None,
        };
        Ok(Store {
            inner,
            runtime,
            dir,
        })
    }

    /// Removes what a kill in the middle of a put has left in a folder of objects: files under temporary names, which no
    /// listing shows.
    pub fn clean(&self, folder: &str) {
        let Some(files) = self
            .dir
            .as_ref()
            .and_then(|d| std::fs::read_dir(d.join(folder)).ok())
        else {
            return;
        };
        for file in files.flatten() {
            if file.file_name().to_string_lossy().contains('#') {
                // Left over once more is no harm.
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// Puts an object, whole or not at all, durably; it replaces one of the same name.
    pub fn put(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        let path = Path::from(name);
        let put = self.inner.put(&path, PutPayload::from(bytes));
        self.runtime
            .block_on(put)
            .map(|_| ())
            .map_err(|e| failed("writing", name, &e))
    }

    /// Whether there is an object of this name.
    pub fn exists(&self, name: &str) -> Result<bool> {
        let path = Path::from(name);
        match self.runtime.block_on(self.inner.head(&path)) {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(e) => Err(failed("looking for", name, &e)),
        }
    }

    /// An object's bytes.
    pub fn get(&self, name: &str) -> Result<Vec<u8>> {
        self.runtime.block_on(self.read(name))
    }

    async fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = Path::from(name);
        let read = async { self.inner.get(&path).await?.bytes().await };
        let bytes = read.await.map_err(|e| failed("reading", name, &e))?;
        Ok(bytes.into())
    }

    /// Bytes of many small objects, in the order of their names.
    pub fn get_all(&self, names: &[String]) -> Result<Vec<Vec<u8>>> {
        let all = stream::iter(names.iter().map(|n| self.read(n)))
            .buffered(AT_ONCE)
            .try_collect();
        self.runtime.block_on(all)
    }

    /// Removes an object; one that is not there is no error.
    pub fn delete(&self, name: &str) -> Result<()> {
        let path = Path::from(name);
        match self.runtime.block_on(self.inner.delete(&path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(failed("removing", name, &e)),
        }
    }

    /// Names of the objects in a folder (not in folders inside it).
    pub fn files(&self, folder: &str) -> Result<Vec<String>> {
        let found = self.list(Some(folder))?;
        let names = found.objects.iter().filter_map(|o| o.location.filename());
        Ok(names.map(str::to_owned).collect())
    }

    /// Names of the folders at the top.
    pub fn folders(&self) -> Result<Vec<String>> {
        let found = self.list(None)?;
        let names = found.common_prefixes.iter().filter_map(Path::filename);
        Ok(names.map(str::to_owned).collect())
    }

    fn list(&self, folder: Option<&str>) -> Result<object_store::ListResult> {
        let path = folder.map(Path::from);
        self.runtime
            .block_on(self.inner.list_with_delimiter(path.as_ref()))
            .map_err(|e| failed("listing", folder.unwrap_or("the archive"), &e))
    }
}
